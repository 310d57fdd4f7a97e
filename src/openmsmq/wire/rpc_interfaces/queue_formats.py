"""QUEUE_FORMAT in a stub: a union by the type of the name ([MS-MQMQ] 2.2.7)."""

from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.ndr import (
    GUID,
    U8,
    U16,
    U32,
    WIDE_STRING,
    NdrType,
    Reserved,
    Structure,
    Union,
    Unique,
)
from openmsmq.wire.remote_read.queue_format import QueueFormat, QueueFormatType


class ObjectId(NamedTuple):
    """OBJECTID ([MS-MQMQ] 2.2.8)."""

    lineage: UUID
    uniquifier: int


class _DlId(NamedTuple):
    dl_guid: UUID
    pwz_domain: str


class _MulticastId(NamedTuple):
    address: int
    port: int


class _Wire(NamedTuple):
    """The members as they are in the stub; the arm is a GUID, a text, or one of the above."""

    m_qft: int
    m_suffix_and_flags: int
    arm: object


OBJECT_ID: Final = Structure(ObjectId, GUID, U32)
_TEXT: Final = Unique(WIDE_STRING, null="")
_ARMS: Final[dict[int, NdrType | None]] = {
    QueueFormatType.UNKNOWN: None,
    QueueFormatType.PUBLIC: GUID,
    QueueFormatType.PRIVATE: OBJECT_ID,
    QueueFormatType.DIRECT: _TEXT,
    QueueFormatType.MACHINE: GUID,
    QueueFormatType.CONNECTOR: GUID,
    QueueFormatType.DL: Structure(_DlId, GUID, _TEXT),
    QueueFormatType.MULTICAST: Structure(_MulticastId, U32, U32),
    QueueFormatType.SUBQUEUE: _TEXT,
}


def _load(wire: _Wire) -> QueueFormat:
    queue_type, flags, arm = wire
    match arm:
        case UUID():
            return QueueFormat(queue_type, flags, arm)
        case str():
            return QueueFormat(queue_type, flags, text=arm)
        case ObjectId():
            return QueueFormat(queue_type, flags, arm.lineage, arm.uniquifier)
        case _DlId():
            return QueueFormat(queue_type, flags, arm.dl_guid, text=arm.pwz_domain)
        case _MulticastId():
            return QueueFormat(queue_type, flags, address=arm.address, port=arm.port)
        case _:
            return QueueFormat(queue_type, flags)


def _dump(value: QueueFormat) -> _Wire:
    arm: object
    match value.type:
        case QueueFormatType.UNKNOWN:
            arm = None
        case QueueFormatType.DIRECT | QueueFormatType.SUBQUEUE:
            arm = value.text
        case QueueFormatType.PRIVATE:
            arm = ObjectId(value.guid, value.number)
        case QueueFormatType.DL:
            arm = _DlId(value.guid, value.text)
        case QueueFormatType.MULTICAST:
            arm = _MulticastId(value.address, value.port)
        case _:
            arm = value.guid
    return _Wire(value.type, value.suffix_and_flags, arm)


QUEUE_FORMAT: Final = Structure(
    _Wire, U8, U8, Reserved(U16), Union(U8, "m_qft", _ARMS), load=_load, dump=_dump
)
