"""Columns of text from bytes, for all rows at once."""

from codecs import utf_16_le_decode
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from openmsmq.wire.scalars import guid

from .blob import Numbers, Octets, Offsets, Records

_NOT_ASCII: Final = 0x80
_GUID_TEXT: Final = np.frombuffer(b"{00000000-0000-0000-0000-000000000000}", np.uint8)
_GUID_DIGITS: Final = np.flatnonzero(np.equal(_GUID_TEXT, ord("0")))
# The order in which the bytes of a GUID are written: its first three numbers are little-endian.
_GUID_ORDER: Final = np.array([3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15])
_HEX: Final = np.frombuffer(bytes(range(256)).hex().upper().encode(), np.uint8).reshape(256, 2)


class TextColumn:
    """A column whose texts repeat: each is made once.

    Rows that nothing is added for are null.
    """

    def __init__(self, count: int) -> None:
        self._codes = np.full(count, -1, np.int64)
        self._texts: list[str | None] = []

    def add(self, rows: Offsets, values: pa.Array, text: Callable[[bytes], str | None]) -> None:
        """Set these rows to the texts of these bytes."""
        encoded = values.dictionary_encode()
        self._codes[rows] = encoded.indices.to_numpy() + len(self._texts)
        self._texts += map(text, encoded.dictionary.to_pylist())

    def finish(self) -> pa.StringArray:
        """The column."""
        return pick(self._texts, self._codes)


def pick(texts: list[str | None], codes: Numbers) -> pa.StringArray:
    """The text with each of these numbers; null for a negative one."""
    if len(codes) and (codes == codes[0]).all():
        only = texts[codes[0]] if codes[0] >= 0 else None
        return pa.repeat(pa.scalar(only, pa.string()), len(codes))
    return pa.array(texts, pa.string()).take(pa.array(codes, mask=codes < 0))


def in_rows(parts: list[tuple[Offsets, pa.Array]], count: int) -> pa.Array:
    """The values of each part in its rows, and nulls in all others of so many rows."""
    for rows, values in parts:
        if len(rows) == count:
            return values
    codes = np.full(count, -1, np.int64)
    at = 0
    for rows, values in parts:
        codes[rows] = np.arange(at, at + len(values))
        at += len(values)
    values = pa.concat_arrays([values for _, values in parts])
    return values.take(pa.array(codes, mask=codes < 0))


def guid_texts(guids: Records) -> pa.StringArray:
    """GUIDs in braces, with capital letters."""
    only = _only_text(guids)
    if only is not None:
        return pa.repeat(only, len(guids))
    raw = np.ascontiguousarray(guids).view(np.uint8).reshape(-1, 16)
    text = np.tile(_GUID_TEXT, (len(guids), 1))
    text[:, _GUID_DIGITS] = _HEX[raw[:, _GUID_ORDER]].reshape(-1, 32)
    offsets = np.arange(0, text.size + 1, _GUID_TEXT.size, dtype=np.int32)
    return string_array(offsets, text)


def identifier_texts(guids: Records, ordinals: Numbers) -> pa.StringArray:
    r"""Identifiers of the form `{guid}\ordinal`."""
    numbers = pa.array(ordinals).cast(pa.string())
    return pc.binary_join_element_wise(_only_text(guids) or guid_texts(guids), numbers, "\\")


def _only_text(guids: Records) -> pa.StringScalar | None:
    """The text of all of them, if they are the same."""
    halves = np.ascontiguousarray(guids).view(np.uint64).reshape(-1, 2)
    if not len(halves) or (halves != halves[0]).any():
        return None
    return pa.scalar(f"{{{str(guid(halves[0].tobytes())).upper()}}}")


def wide_texts(values: pa.BinaryArray) -> pa.StringArray:
    """UTF-16LE of whole code units up to the first NUL, as `lenient_text` reads it."""
    data, bounds = octets(values)
    units = data.view("<u2")
    starts, ends = bounds[:-1] // 2, bounds[1:] // 2
    nuls = np.append(np.flatnonzero(units == 0), len(units))
    ends = np.minimum(ends, nuls[np.searchsorted(nuls, starts)])
    if len(units) and units.max() >= _NOT_ASCII:
        return _decoded(units, starts, ends)
    return _parts(units.astype(np.uint8), starts, ends)


def _decoded(units: npt.NDArray[np.uint16], starts: Offsets, ends: Offsets) -> pa.StringArray:
    """The same for any characters: decoded in one go, with a NUL after each text."""
    sizes = ends - starts
    text_of_unit = np.repeat(np.arange(len(sizes)), sizes)
    first_target = np.cumsum(sizes + 1) - sizes - 1
    within = np.arange(len(text_of_unit)) - (np.cumsum(sizes) - sizes)[text_of_unit]
    separated = np.zeros(len(text_of_unit) + len(sizes), "<u2")
    separated[first_target[text_of_unit] + within] = units[starts[text_of_unit] + within]
    text = utf_16_le_decode(separated.tobytes(), "replace", True)[0]
    data = np.frombuffer(text.encode(), np.uint8)
    nuls = np.flatnonzero(data == 0)
    return _parts(data, np.append(0, nuls[:-1] + 1), nuls)


def _parts(data: Octets, starts: Offsets, ends: Offsets) -> pa.StringArray:
    """UTF-8 between these places, which are in ascending order."""
    if not len(starts):
        return pa.array([], pa.string())
    bounds = np.empty(2 * len(starts), np.int32)
    bounds[0::2] = starts
    bounds[1::2] = ends
    return string_array(bounds, data).take(pa.array(np.arange(0, len(bounds), 2)))


def string_array(bounds: npt.NDArray[np.int32], data: Octets) -> pa.StringArray:
    """The UTF-8 between neighbouring bounds."""
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(bounds) - 1, buffers)


def octets(values: pa.BinaryArray) -> tuple[Octets, Offsets]:
    """The bytes of an array without nulls, and where each value begins and the last one ends."""
    _, bounds_buffer, data_buffer = values.buffers()
    if bounds_buffer is None or not len(values):
        return np.empty(0, np.uint8), np.zeros(len(values) + 1, np.int64)
    bounds = np.frombuffer(bounds_buffer, np.int32)[values.offset :][: len(values) + 1]
    bounds = bounds.astype(np.int64)
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer else np.empty(0, np.uint8)
    return data[bounds[0] : bounds[-1]], bounds - bounds[0]
