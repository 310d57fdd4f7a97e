"""The columns of what a queue keeps beside the packets, made for all rows at once."""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from openmsmq.spark.columns import TIMESTAMP, PacketBlock
from openmsmq.wire.lookup_id import SEQUENCE_MASK


def record_column(name: str, block: PacketBlock) -> pa.Array:
    """One of `RECORD_COLUMNS`; null where the block does not know."""
    count = len(block.ends)
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
