"""QUEUE_FORMAT: a format name as RPC calls carry it ([MS-MQMQ] 2.2.7)."""

from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address
from typing import Final, Self
from uuid import UUID

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.format_name import (
    ConnectorFormatName,
    DistributionListFormatName,
    FormatName,
    MachineFormatName,
    MulticastFormatName,
    MultipleElementFormatName,
    PrivateFormatName,
    PublicFormatName,
    SingleFormatName,
    parse_format_name,
)
from openmsmq.wire.names.queue_name import MACHINE_SUFFIXES, Suffix
from openmsmq.wire.scalars import GUID_NULL

SUFFIX_MASK: Final = 0x0F
SYSTEM_QUEUE_FLAG: Final = 0x80


class QueueFormatType(IntEnum):
    """QUEUE_FORMAT.m_qft ([MS-MQMQ] 2.2.6)."""

    UNKNOWN = 0
    PUBLIC = 1
    PRIVATE = 2
    DIRECT = 3
    MACHINE = 4
    CONNECTOR = 5
    DL = 6
    MULTICAST = 7
    SUBQUEUE = 8


_SUFFIXES: Final[dict[int, tuple[Suffix, ...]]] = {
    QueueFormatType.PUBLIC: (Suffix.NONE, Suffix.JOURNAL),
    QueueFormatType.PRIVATE: (Suffix.NONE, Suffix.JOURNAL),
    QueueFormatType.DIRECT: (Suffix.NONE, *MACHINE_SUFFIXES),
    QueueFormatType.MACHINE: MACHINE_SUFFIXES,
    QueueFormatType.CONNECTOR: (Suffix.NONE, Suffix.XACTONLY),
    QueueFormatType.DL: (Suffix.NONE,),
    QueueFormatType.MULTICAST: (Suffix.NONE,),
    QueueFormatType.SUBQUEUE: (Suffix.SUBQUEUE,),
}


@dataclass(frozen=True, slots=True)
class QueueFormat:
    """The fields of all arms; those that `type` does not use keep their defaults.

    `text` is the direct name without `DIRECT=`, or the domain of a distribution list.
    `address` holds the multicast address with its bytes in network order.
    """

    type: int
    suffix_and_flags: int = 0
    guid: UUID = GUID_NULL
    number: int = 0
    text: str = ""
    address: int = 0
    port: int = 0

    @classmethod
    def from_format_name(cls, name: FormatName) -> Self:
        """The structure that carries this name.

        Raises:
            QueueError: MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION for a multiple-element name.
        """
        match name:
            case PublicFormatName():
                return cls(QueueFormatType.PUBLIC, _flags(name.suffix), name.guid)
            case PrivateFormatName():
                return cls(QueueFormatType.PRIVATE, _flags(name.suffix), name.guid, name.number)
            case DirectFormatName():
                return cls._from_direct(name)
            case MachineFormatName():
                return cls(QueueFormatType.MACHINE, _flags(name.suffix), name.guid)
            case ConnectorFormatName():
                return cls(QueueFormatType.CONNECTOR, _flags(name.suffix), name.guid)
            case DistributionListFormatName():
                return cls(QueueFormatType.DL, guid=name.guid, text=name.domain)
            case MulticastFormatName():
                address = int.from_bytes(name.address.packed, "little")
                return cls(QueueFormatType.MULTICAST, address=address, port=name.port)
            case _:
                raise QueueError(
                    Hresult.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
                    "a multiple-element format name has no QUEUE_FORMAT",
                )

    @classmethod
    def _from_direct(cls, name: DirectFormatName) -> Self:
        suffix = name.queue_name.suffix
        if suffix is Suffix.SUBQUEUE:
            return cls(QueueFormatType.SUBQUEUE, Suffix.SUBQUEUE, text=name.direct)
        return cls(QueueFormatType.DIRECT, _flags(suffix), text=name.direct)

    def to_format_name(self) -> SingleFormatName:
        """The name that this structure carries.

        Raises:
            QueueError: MQ_ERROR_ILLEGAL_FORMATNAME if it carries none.
        """
        suffix = self._suffix()
        match self.type:
            case QueueFormatType.PUBLIC:
                return PublicFormatName(self.guid, suffix)
            case QueueFormatType.PRIVATE:
                return PrivateFormatName(self.guid, self.number, suffix)
            case QueueFormatType.DIRECT | QueueFormatType.SUBQUEUE:
                return self._to_direct(suffix)
            case QueueFormatType.MACHINE:
                return MachineFormatName(self.guid, suffix)
            case QueueFormatType.CONNECTOR:
                return ConnectorFormatName(self.guid, suffix)
            case QueueFormatType.DL:
                return self._parsed(str(DistributionListFormatName(self.guid, self.text)))
            case _:
                address = IPv4Address(self.address.to_bytes(4, "little"))
                return self._parsed(f"MULTICAST={address}:{self.port}")

    def _suffix(self) -> Suffix:
        allowed = _SUFFIXES.get(self.type)
        if allowed is None:
            raise _illegal(f"type {self.type} is not in 1..8")
        suffix = self.suffix_and_flags & SUFFIX_MASK
        if suffix not in allowed:
            raise _illegal(f"suffix {suffix} does not go with type {self.type}")
        return Suffix(suffix)

    def _to_direct(self, suffix: Suffix) -> SingleFormatName:
        text = self.text
        # Whether the text repeats the suffix is not said: the suffix is trusted, both are taken.
        if suffix in MACHINE_SUFFIXES and not text.upper().endswith(f";{suffix.name}"):
            text = f"{text};{suffix.name}"
        name = self._parsed(f"DIRECT={text}")
        if not isinstance(name, DirectFormatName) or name.queue_name.suffix is not suffix:
            raise _illegal(f"suffix {suffix.name} does not go with {name}")
        return name

    def _parsed(self, text: str) -> SingleFormatName:
        name = parse_format_name(text)
        if isinstance(name, MultipleElementFormatName):
            raise _illegal(f"{self.text!r} holds several names")
        return name


def _flags(suffix: Suffix) -> int:
    # [MS-MQMQ] 2.2.7; for XACTONLY by analogy.
    return suffix | SYSTEM_QUEUE_FLAG if suffix else 0


def _illegal(reason: str) -> QueueError:
    return QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, f"QUEUE_FORMAT: {reason}")
