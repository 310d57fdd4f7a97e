"""TransactionHeader of a transactional message ([MS-MQMQ] 2.2.20.5)."""

from dataclasses import dataclass
from enum import IntFlag
from struct import Struct
from typing import Final, Self
from uuid import UUID

from openmsmq.wire.checks import require
from openmsmq.wire.scalars import GUID_SIZE, TxSequenceID, guid

TRANSACTION_HEADER: Final = Struct("<IIIII")
TRANSACTION_HEADER_SIZE: Final = 20
TRANSACTION_ID_SHIFT: Final = 4
TRANSACTION_ID_MASK: Final = 0x00FFFFF0

_CG: Final = 0x1


class TransactionHeaderFlags(IntFlag):
    """TransactionHeader.Flags without the 20-bit transaction tag."""

    CG = 0x1
    FA = 0x2
    FM = 0x4
    LM = 0x8


@dataclass(frozen=True, slots=True)
class TransactionHeader:
    """Place of a message in its transaction and in its sequence.

    `flags` is kept without CG, which follows from `connector_qm_guid`.
    """

    flags: int
    tx_sequence_id: TxSequenceID
    tx_sequence_number: int
    previous_tx_sequence_number: int
    connector_qm_guid: UUID | None = None

    @property
    def transaction_id(self) -> int:
        """The 20-bit tag that the messages of one transaction share."""
        return (self.flags & TRANSACTION_ID_MASK) >> TRANSACTION_ID_SHIFT

    @classmethod
    def parse(cls, buf: bytes | memoryview, offset: int = 0) -> tuple[Self, int]:
        end = transaction_header_end(buf, offset)
        flags, ordinal, time_stamp, number, previous = TRANSACTION_HEADER.unpack_from(buf, offset)
        connector = guid(bytes(buf[end - GUID_SIZE : end])) if flags & _CG else None
        sequence = TxSequenceID(time_stamp, ordinal)
        return cls(flags & ~_CG, sequence, number, previous, connector), end

    def serialize(self) -> bytes:
        connector = self.connector_qm_guid
        fixed = TRANSACTION_HEADER.pack(
            self.flags & ~_CG | (connector is not None),
            self.tx_sequence_id.ordinal,
            self.tx_sequence_id.time_stamp,
            self.tx_sequence_number,
            self.previous_tx_sequence_number,
        )
        return fixed if connector is None else fixed + connector.bytes_le


def transaction_header_end(buf: bytes | memoryview, offset: int) -> int:
    """Return where the header ends, after checking that it fits."""
    end = require(buf, offset, TRANSACTION_HEADER_SIZE, "TransactionHeader")
    if buf[offset] & _CG:
        end = require(buf, end, GUID_SIZE, "TransactionHeader.ConnectorQMGuid")
    return end
