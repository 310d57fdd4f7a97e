"""The names of queues that are valid for a remote reader."""

from typing import Final

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import SingleFormatName
from openmsmq.wire.remote_read.queue_format import QueueFormat, QueueFormatType

_OPENABLE: Final = frozenset(
    (
        QueueFormatType.PUBLIC,
        QueueFormatType.PRIVATE,
        QueueFormatType.DIRECT,
        QueueFormatType.MACHINE,
        QueueFormatType.SUBQUEUE,
    )
)


def readable_name(queue_format: QueueFormat) -> SingleFormatName:
    """The name of a queue that can be read remotely ([MS-MQRR] 2.2.3).

    Raises:
        QueueError: MQ_ERROR_INVALID_PARAMETER, it is of another kind or malformed.
    """
    if queue_format.type not in _OPENABLE:
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"a queue with a name of type {queue_format.type} cannot be read remotely",
        )
    try:
        name = queue_format.to_format_name()
    except QueueError as exc:
        raise QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, exc.detail) from exc
    if isinstance(name, DirectFormatName) and name.protocol not in (
        DirectProtocol.TCP,
        DirectProtocol.OS,
    ):
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER, f"{name} cannot be read remotely: TCP and OS can"
        )
    return name
