"""The properties of filters: their kinds of values, and the cost of reading them."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, NamedTuple

from openmsmq.care.reasons import remedy
from openmsmq.client.received_message import PROPERTIES as MESSAGE_PROPERTIES
from openmsmq.client.received_message import ReceivedMessage


class Kind(StrEnum):
    """The format and comparison of values of a property."""

    TEXT = "text"
    NUMBER = "number"
    TRUTH = "truth"
    TIME = "time"
    SECONDS = "seconds"
    BYTES = "bytes"


class Found(NamedTuple):
    """A message and its queue."""

    queue: str
    message: ReceivedMessage


class Property(NamedTuple):
    """One property.

    Attributes:
        cost: cheaper ones are compared first: 0 needs no packet, 1 a few bytes of it, 2 a text, 3
            the body.
        read: its value; None if the message has none.
    """

    kind: Kind
    cost: int
    read: Callable[[Found, float], Any]


def _attribute(name: str) -> Callable[[Found, float], Any]:
    def read(found: Found, now: float) -> Any:  # noqa: ARG001 - the signature of all
        return getattr(found.message, name)

    return read


def _moment(name: str) -> Callable[[Found, float], float | None]:
    def read(found: Found, now: float) -> float | None:  # noqa: ARG001 - the signature of all
        moment = getattr(found.message, name)
        return None if moment is None else float(moment.timestamp())

    return read


def _queue(found: Found, now: float) -> str:  # noqa: ARG001
    return found.queue


def _age(found: Found, now: float) -> float | None:
    # A delayed message has not arrived.
    if found.message.deliver_at is not None:
        return None
    return now - found.message.arrived_time.timestamp()


def _reason(found: Found, now: float) -> str:  # noqa: ARG001
    return remedy(found.message.class_).reason


def _size(found: Found, now: float) -> int:  # noqa: ARG001
    return len(found.message.packet)


_NUMBERS: Final = (
    *("lookup_id", "body_type", "body_size", "priority", "class", "app_specific"),
    *("abort_count", "move_count", "privacy_level"),
)
_SECONDS: Final = ("time_to_reach_queue", "time_to_be_received")
_TRUTHS: Final = (
    *("transactional", "first_in_transaction", "last_in_transaction"),
    *("authenticated", "encrypted"),
)
_TIMES: Final = ("sent_time", "arrived_time", "deliver_at")


def _kind(name: str) -> Kind:
    kinds = (
        (_NUMBERS, Kind.NUMBER),
        (_SECONDS, Kind.SECONDS),
        (_TRUTHS, Kind.TRUTH),
        (_TIMES, Kind.TIME),
    )
    return next((kind for names, kind in kinds if name in names), Kind.TEXT)


def _cost(name: str) -> int:
    if name in ("lookup_id", "arrived_time", "abort_count", "move_count"):
        return 0
    return 1 if _kind(name) is not Kind.TEXT else 2


def _known() -> dict[str, Property]:
    known = {
        name: Property(
            _kind(name), _cost(name), _moment(name) if name in _TIMES else _attribute(name)
        )
        for name in MESSAGE_PROPERTIES
        if name != "body_base64"
    }
    known["body"] = Property(Kind.BYTES, 3, _attribute("body_bytes"))
    known["extension"] = Property(Kind.BYTES, 2, _attribute("extension"))
    known["soap_envelope"] = Property(Kind.TEXT, 3, _attribute("soap_envelope"))
    known["compound_message"] = Property(Kind.BYTES, 3, _attribute("compound_message"))
    known["acknowledge"] = Property(Kind.NUMBER, 1, _attribute("acknowledge"))
    # Properties that are not in messages.
    known["queue"] = Property(Kind.TEXT, 0, _queue)
    known["age"] = Property(Kind.SECONDS, 0, _age)
    known["size"] = Property(Kind.NUMBER, 0, _size)
    known["reason"] = Property(Kind.TEXT, 2, _reason)
    return known


PROPERTIES: Final = _known()
