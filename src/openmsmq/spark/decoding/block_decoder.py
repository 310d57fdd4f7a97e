"""Rows from packets, a column at a time: numpy and Arrow do the work, not Python.

Packets that are malformed or unusual are left to the `RowDecoder`.
"""

from collections.abc import Collection, Iterator
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from openmsmq.spark.bodies.columns import body_columns
from openmsmq.spark.columns import (
    BINARY,
    RECORD_COLUMNS,
    TIMESTAMP,
    PacketBlock,
    Packets,
    check_schema,
)
from openmsmq.wire.lookup_id import SEQUENCE_MASK

from .blob import Blob, Offsets
from .packet_columns import PACKET_COLUMNS, transports
from .packet_layout import PacketLayout
from .row_decoder import RowDecoder
from .texts import in_rows


class BlockDecoder:
    """Decodes blocks of packets into the same rows as a `RowDecoder`, several times as fast.

    Args and errors are those of a `RowDecoder`.
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
        of_packets = [
            field
            for field in schema
            if field.name not in self._constants and field.name not in RECORD_COLUMNS
        ]
        self._packet_schema = pa.schema(of_packets)
        self._row_decoder = RowDecoder(
            self._packet_schema,
            queue=None,
            queue_kind=None,
            body_format=body_format,
            machine=machine,
        )

    def decode(self, block: PacketBlock) -> pa.RecordBatch:
        """The rows of a block, in its order.

        Raises:
            ValueError: the block has 2 GiB or more, or its ends are not in order.
        """
        of_packets = self._decode_packets(block) if len(self._packet_schema) else {}
        arrays = [
            of_packets[name] if name in of_packets else self._other_column(name, block)
            for name in self._schema.names
        ]
        return pa.record_batch(arrays, schema=self._schema)

    def _other_column(self, name: str, block: PacketBlock) -> pa.Array:
        if name in self._constants:
            return pa.repeat(pa.scalar(self._constants[name], pa.string()), len(block.ends))
        return record_column(name, block)

    def _decode_packets(self, block: PacketBlock) -> dict[str, pa.Array]:
        blob = Blob(block.blob)
        ends = np.asarray(block.ends, np.int64)
        starts = np.concatenate((np.zeros(1, np.int64), ends))[: len(ends)]
        if len(ends) and ((starts > ends).any() or ends[-1] > len(blob.data)):
            raise ValueError("ends: are not the places in the blob where packets end, in order")
        layout = PacketLayout(blob, starts, ends)
        if layout.plain.all():
            return self._plain_columns(layout)
        plain, odd = np.flatnonzero(layout.plain), np.flatnonzero(~layout.plain)
        rows = self._row_decoder.decode(_some_packets(blob, starts[odd], ends[odd]))
        columns = self._plain_columns(PacketLayout(blob, starts[plain], ends[plain]))
        return {
            name: in_rows([(plain, columns[name]), (odd, rows[name])], len(ends))
            for name in self._packet_schema.names
        }

    def _plain_columns(self, layout: PacketLayout) -> dict[str, pa.Array]:
        names = self._packet_schema.names
        columns = {name: PACKET_COLUMNS[name](layout) for name in names if name in PACKET_COLUMNS}
        if "transport" in names:
            columns["transport"] = transports(layout, self._machine)
        if "body_text" not in names and "decode_error" not in names:
            return columns
        texts = errors = pa.nulls(len(layout), pa.string())
        if self._body_format != BINARY:
            bodies = columns.get("body")
            texts, errors = body_columns(
                self._body_format,
                PACKET_COLUMNS["body"](layout) if bodies is None else bodies,
                layout.properties_header["body_type"],
                layout.encrypted,
            )
        return {**columns, "body_text": texts, "decode_error": errors}


def _some_packets(blob: Blob, starts: Offsets, ends: Offsets) -> Packets:
    def packets() -> Iterator[memoryview]:
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            yield blob.data[start:end]

    return Packets(b"".join(packets()), np.cumsum(ends - starts).tolist())


def record_column(name: str, block: PacketBlock) -> pa.Array:
    """One of `RECORD_COLUMNS`; null where the block does not know."""
    count = len(block.ends)
    if name == "deliver_at":
        # A message that waits for its time is in no range.
        return pa.nulls(count, TIMESTAMP)
    if name == "arrived_time":
        if not len(block.arrived_times):
            return pa.nulls(count, TIMESTAMP)
        return pa.array(_microseconds(block.arrived_times), TIMESTAMP)
    if name in ("lookup_id", "seq"):
        if not len(block.lookup_ids):
            return pa.nulls(count, pa.int64())
        lookup_ids = np.asarray(block.lookup_ids, np.int64)
        return pa.array(lookup_ids if name == "lookup_id" else lookup_ids & SEQUENCE_MASK)
    return _counter(name, block)


def _counter(name: str, block: PacketBlock) -> pa.Array:
    count = len(block.ends)
    is_time = name == "last_move_time"
    kind = TIMESTAMP if is_time else pa.int32()
    if not len(block.lookup_ids):
        return pa.nulls(count, kind)
    # Few messages have any.
    rows, aborts, moves, moved = zip(*block.counters, strict=True) if block.counters else ((),) * 4
    if is_time:
        times = np.zeros(count)
        times[list(rows)] = moved
        return pa.array(_microseconds(times), kind, mask=times == 0)
    values = np.zeros(count, np.int32)
    values[list(rows)] = aborts if name == "abort_count" else moves
    return pa.array(values, kind)


def _microseconds(times: Collection[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Times as Arrow keeps them."""
    seconds = np.asarray(times, np.float64)
    whole = np.floor(seconds)
    microseconds: npt.NDArray[np.int64] = whole.astype(np.int64) * 1_000_000
    return microseconds + np.rint((seconds - whole) * 1e6).astype(np.int64)
