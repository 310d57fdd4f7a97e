"""Rows from packets, one at a time: simple, and the reference for the vectorised decoder."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import repeat
from math import floor
from typing import Final
from uuid import UUID

import pyarrow as pa

from openmsmq.client.received_message import NO_COUNTERS, ReceivedMessage, name_text
from openmsmq.spark.bodies.text import ENCRYPTED, text_of_body
from openmsmq.spark.columns import BINARY, RECORD_COLUMNS, PacketBlock, check_schema
from openmsmq.wire.codes.message_enums import Journal
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.lookup_id import SEQUENCE_MASK

_JOURNAL: Final = int(Journal.JOURNAL)
_DEADLETTER: Final = int(Journal.DEADLETTER)
_ACKNOWLEDGMENTS: Final = 0x0F
_SIGN_32: Final = 1 << 31

# Few queues make most traffic, and reading a format name takes longer than the whole packet.
_name: Final = lru_cache(maxsize=4096)(name_text)
_Value = Callable[[ReceivedMessage], object]

# What is not simply the property of the same name.
_VALUES: Final[dict[str, _Value]] = {
    "body": lambda row: row.view.body,
    "destination_queue": lambda row: _name(row.view.destination_queue),
    "response_queue": lambda row: _name(row.view.response_queue),
    "admin_queue": lambda row: _name(row.view.admin_queue),
    "sent_time": lambda row: row.view.sent_time * 1_000_000,
    "sender_id_type": lambda row: row.view.sender_id_type,
    # Reserved bits are ignored.
    "acknowledge": lambda row: row.acknowledge & _ACKNOWLEDGMENTS,
    "journal": lambda row: (
        row.view.positive_journaling * _JOURNAL | row.view.negative_journaling * _DEADLETTER
    ),
    "trace": lambda row: int(row.view.tracing_requested),
    "privacy_level": lambda row: signed_32(row.view.privacy_level),
    "hash_alg": lambda row: signed_32(row.view.hash_algorithm),
    "raw_packet": lambda row: row.packet,
}


class RowDecoder:
    """Decodes blocks of packets into rows, packet by packet.

    A packet that is malformed gives a row with the reason in `decode_error` and nulls in all
    columns that would come from it, except `raw_packet`.

    Args:
        schema: the columns to make, of `message_schema`, in any order.
        queue: format name of the queue that the packets come from; None when it is unknown.
        queue_kind: "queue", "journal", "deadletter" and so on.
        body_format: how `body_text` is made.
        machine: GUID of the queue manager that has the queue; empty when it is unknown.

    Raises:
        ValueError: a column or a format that there is not.
    """

    def __init__(
        self,
        schema: pa.Schema,
        *,
        queue: str | None,
        queue_kind: str | None,
        body_format: str = BINARY,
        machine: str = "",
    ) -> None:
        check_schema(schema, body_format)
        self._schema = schema
        self._machine = UUID(machine).bytes_le if machine else b""
        self._constants = {"queue": queue, "queue_kind": queue_kind}
        self._body_format = body_format
        # An error of the body is found by decoding it.
        self._with_text = body_format != BINARY and not {"body_text", "decode_error"}.isdisjoint(
            schema.names
        )
        made_elsewhere = {*self._constants, *RECORD_COLUMNS, "body_text", "decode_error"}
        self._values = {name: _value(name) for name in schema.names if name not in made_elsewhere}

    def decode(self, block: PacketBlock) -> pa.RecordBatch:
        """The rows of a block, in its order."""
        columns: dict[str, list[object]] = {name: [] for name in self._schema.names}
        for row in _rows(block, self._machine):
            values = self._decode_row(row)
            for name, column in columns.items():
                column.append(values.get(name))
        arrays = [pa.array(columns[field.name], field.type) for field in self._schema]
        return pa.record_batch(arrays, schema=self._schema)

    def _decode_row(self, row: "_Row") -> dict[str, object]:
        values: dict[str, object] = {**self._constants, **row.record}
        message = row.message
        try:
            message.view  # noqa: B018 - all of the packet is checked here, once
        except MalformedPacket as exc:
            return {**values, "raw_packet": message.packet, "decode_error": str(exc)}
        for name, value in self._values.items():
            values[name] = value(message)
        if self._with_text:
            if message.view.encrypted:
                values["decode_error"] = ENCRYPTED
            else:
                values["body_text"], values["decode_error"] = text_of_body(
                    self._body_format, message.body_type, message.body_bytes
                )
        return values


class _Row:
    """One message of a block."""

    __slots__ = ("message", "record")

    def __init__(self, message: ReceivedMessage, record: dict[str, object]) -> None:
        self.message = message
        self.record = record


def _rows(block: PacketBlock, machine: bytes) -> Iterator[_Row]:
    counters = {row: (aborts, moves, moved) for row, aborts, moves, moved in block.counters}
    blob = bytes(block.blob)
    start = 0
    lookup_ids = map(int, block.lookup_ids) if len(block.lookup_ids) else repeat(None)
    arrived_times = iter(block.arrived_times) if len(block.arrived_times) else repeat(None)
    for number, (end, lookup_id, arrived) in enumerate(
        zip(block.ends, lookup_ids, arrived_times, strict=False)
    ):
        aborts, moves, moved = counters.get(number, NO_COUNTERS)
        record: dict[str, object] = {}
        if lookup_id is not None:
            record = {
                "lookup_id": lookup_id,
                "seq": lookup_id & SEQUENCE_MASK,
                "abort_count": aborts,
                "move_count": moves,
                "last_move_time": microseconds(moved) if moved else None,
            }
        if arrived is not None:
            record["arrived_time"] = microseconds(arrived)
        yield _Row(ReceivedMessage(blob[start:end], 0, 0.0, NO_COUNTERS, machine), record)
        start = end


def microseconds(seconds: float) -> int:
    """A time as Arrow keeps it."""
    whole = floor(seconds)
    return whole * 1_000_000 + round((seconds - whole) * 1e6)


def signed_32(number: int) -> int:
    """A number of the wire for a column of 32 bits, which has no unsigned ones."""
    return (number ^ _SIGN_32) - _SIGN_32


def _value(name: str) -> _Value:
    if name in _VALUES:
        return _VALUES[name]
    return lambda row: getattr(row, name)
