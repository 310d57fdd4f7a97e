"""Bytes that are read at many offsets at once."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Offsets = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Octets = npt.NDArray[np.uint8]
# Unsigned ones of any size: numpy has annotations for each size, but not for what they become.
Numbers = npt.NDArray[Any]
# The fields of a record have many types, which numpy's own annotations cannot tell apart.
Records = npt.NDArray[Any]

# Arrow's binary and string columns, which Spark wants, count bytes with 32 bits.
MAX_BLOB_SIZE: Final = 2**31 - 1


class Blob:
    """One buffer of packets.

    Whoever reads checks afterwards which of the places were inside their packets: a place behind
    the end of the buffer gives any bytes.

    Raises:
        ValueError: it is too large for Arrow.
    """

    def __init__(self, data: bytes | memoryview) -> None:
        self.data: Final = memoryview(data).cast("B")
        if len(self.data) > MAX_BLOB_SIZE:
            raise ValueError(f"a block of {len(self.data)} bytes is larger than {MAX_BLOB_SIZE}")
        self._buffer = pa.py_buffer(data)

    def records(self, kind: np.dtype[Any], at: Offsets) -> Records:
        """The record at each place."""
        last = len(self.data) - kind.itemsize
        if last < 0:
            return np.zeros(len(at), kind)
        # A record may begin at any byte, so the steps from one to the next are single bytes.
        everywhere: Records = np.ndarray((last + 1,), kind, self.data, 0, (1,))
        return everywhere[np.minimum(at, last)]

    def slices(self, starts: Offsets, ends: Offsets) -> pa.BinaryArray:
        """The bytes from each start to its end; places are in ascending order."""
        count = len(starts)
        if not count:
            return pa.array([], pa.binary())
        # The buffer as an array of wanted and unwanted slices in turn costs nothing; Arrow then
        # copies each wanted one at once.
        bounds = np.empty(2 * count, np.int32)
        bounds[0::2] = starts
        bounds[1::2] = ends
        parts = pa.Array.from_buffers(
            pa.binary(), 2 * count - 1, [None, pa.py_buffer(bounds), self._buffer]
        )
        return parts.take(pa.array(np.arange(0, 2 * count, 2)))


def fixed_size_array(records: Records) -> pa.FixedSizeBinaryArray:
    """Records as an array of byte strings of one size."""
    kind = pa.binary(records.dtype.itemsize)
    buffer = pa.py_buffer(np.ascontiguousarray(records))
    return pa.Array.from_buffers(kind, len(records), [None, buffer])
