"""What a caller asks for, as calls of remote read."""

from typing import Final

from openmsmq.client.backend import LookUp, Read
from openmsmq.protocol.remote_read.client import Reading
from openmsmq.protocol.remote_read.client.remote_queue import FOR_EVER
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import LookupAction, ReceiveAction
from openmsmq.wire.codes.queue_error import QueueError

from .handle import RemoteHandle

_LAST: Final = 0xFFFF_FFFF_FFFF_FFFF
_ACTIONS: Final = {
    "receive": ReceiveAction.RECEIVE,
    "peek": ReceiveAction.PEEK_CURRENT,
    "peek_next": ReceiveAction.PEEK_NEXT,
}
_LOOKUPS: Final = {
    ("current", False): LookupAction.PEEK_CURRENT,
    ("next", False): LookupAction.PEEK_NEXT,
    ("previous", False): LookupAction.PEEK_PREV,
    ("last", False): LookupAction.PEEK_PREV,
    ("current", True): LookupAction.RECEIVE_CURRENT,
    ("next", True): LookupAction.RECEIVE_NEXT,
    ("previous", True): LookupAction.RECEIVE_PREV,
    ("last", True): LookupAction.RECEIVE_PREV,
}


def first_reading(handle: RemoteHandle, read: Read | LookUp) -> Reading:
    """The first call of a request."""
    if isinstance(read, LookUp):
        return _reading_by_lookup_id(read)
    action = _ACTIONS[read.action]
    if action is ReceiveAction.PEEK_NEXT and read.cursor in handle.unread_cursors:
        action = ReceiveAction.PEEK_CURRENT
    return Reading(action, _milliseconds(read.timeout), 0, read.cursor)


def limit_of(read: Read | LookUp) -> int:
    """How many messages a request may bring."""
    if isinstance(read, LookUp):
        return 1
    receives = read.action == "receive"
    return read.limit if receives != bool(read.cursor) else 1


def _milliseconds(seconds: float | None) -> int:
    return FOR_EVER if seconds is None else min(round(max(seconds, 0.0) * 1000), FOR_EVER - 1)


def _reading_by_lookup_id(read: LookUp) -> Reading:
    lookup_id = _LAST if read.relation == "last" else read.lookup_id
    if read.relation == "first" or (read.relation == "next" and not lookup_id):
        return Reading(ReceiveAction.RECEIVE if read.receive else ReceiveAction.PEEK_CURRENT)
    if not lookup_id:
        # [MS-MQRR] 3.1.4.7 and [MS-MQQP] 3.1.4.11: a lookup needs an id.
        raise QueueError(Hresult.MQ_ERROR_MESSAGE_NOT_FOUND, "no message has the lookup id 0")
    return Reading(_LOOKUPS[read.relation, read.receive], 0, lookup_id)
