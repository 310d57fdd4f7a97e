"""The text of many bodies at once, with the result of `text_of_body` for each.

Bodies of ASCII characters in the two usual types are decoded together, others one at a time.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from openmsmq.spark.decoding.blob import Mask, Numbers, Offsets
from openmsmq.spark.decoding.texts import in_rows, octets, string_array
from openmsmq.wire.message.body_type import BodyType

from .text import ENCRYPTED, text_of_body

_NOT_ASCII: Final = 0x80
_FIRST_PRINTABLE: Final = np.uint8(0x20)
_PRINTABLES: Final = np.uint8(0x7F - 0x20)
# The others that text may have, as in `sniff_text`.
_TEXT_CONTROLS: Final = np.isin(np.arange(256), list(b"\t\n\x0c\r"))
_BLANKS: Final = " \t\r\n"
_XML: Final = r"^[ \t\r\n]*(?:<\?xml[^<>?]*\?>[ \t\r\n]*)?<[A-Za-z_][A-Za-z0-9_.\-]*[ \t\r\n/>]"


def body_columns(
    body_format: str, bodies: pa.BinaryArray, body_types: Numbers, encrypted: Mask
) -> tuple[pa.StringArray, pa.StringArray]:
    """The texts and the errors of bodies."""
    together = [
        _usual(
            body_format, bodies, np.flatnonzero((body_types == body_type) & ~encrypted), ascii_of
        )
        for body_type, ascii_of in _USUAL_TYPES
    ]
    is_left = np.ones(len(bodies), np.bool_)
    for rows, _ in together:
        is_left[rows] = False
    rest = np.flatnonzero(is_left)
    outcomes = [
        (None, ENCRYPTED) if is_encrypted else text_of_body(body_format, body_type, body)
        for is_encrypted, body_type, body in zip(
            encrypted[rest].tolist(),
            body_types[rest].tolist(),
            bodies.take(pa.array(rest)).to_pylist(),
            strict=True,
        )
    ]
    texts = pa.array([text for text, _ in outcomes], pa.string())
    errors = pa.array([error for _, error in outcomes], pa.string())
    return (
        in_rows([*together, (rest, texts)], len(bodies)),
        in_rows([(rest, errors)], len(bodies)),
    )


def _usual(
    body_format: str,
    bodies: pa.BinaryArray,
    rows: Offsets,
    ascii_of: Callable[[pa.BinaryArray], tuple[pa.StringArray, Mask]],
) -> tuple[Offsets, pa.StringArray]:
    """Those of these rows that are surely what is wanted, and their texts."""
    texts, good = ascii_of(bodies if len(rows) == len(bodies) else bodies.take(pa.array(rows)))
    if not good.all():
        texts, rows = texts.filter(pa.array(good)), rows[good]
    if body_format in _SURELY:
        matches = _SURELY[body_format](texts)
        texts, rows = texts.filter(matches), rows[matches.to_numpy(zero_copy_only=False)]
    return rows, texts


def _surely_xml(texts: pa.StringArray) -> pa.BooleanArray:
    return pc.match_substring_regex(texts, _XML)


def _surely_json(texts: pa.StringArray) -> pa.BooleanArray:
    # By the ends of each text: a regular expression would go through all of it.
    inner = pc.ascii_trim(texts, _BLANKS)
    is_object = pc.and_(pc.starts_with(inner, "{"), pc.ends_with(inner, "}"))
    is_array = pc.and_(pc.starts_with(inner, "["), pc.ends_with(inner, "]"))
    return pc.or_(is_object, is_array)


# Which texts are of this kind without doubt; of others `text_of_body` decides, which takes more.
_SURELY: Final[dict[str, Callable[[pa.StringArray], pa.BooleanArray]]] = {
    "xml": _surely_xml,
    "json": _surely_json,
}


def _wide_ascii(bodies: pa.BinaryArray) -> tuple[pa.StringArray, Mask]:
    """Bodies of UTF-16, and which of them have ASCII characters only."""
    data, bounds = octets(bodies)
    good = np.diff(bounds) & 1 == 0
    if not good.all():
        # None of them is read at the right place then.
        return pa.nulls(len(bodies), pa.string()), np.zeros(len(bodies), np.bool_)
    units = data.view("<u2")
    good[_rows_of(np.flatnonzero(units >= _NOT_ASCII), bounds // 2)] = False
    return string_array((bounds // 2).astype(np.int32), units.astype(np.uint8)), good


def _plain_ascii(bodies: pa.BinaryArray) -> tuple[pa.StringArray, Mask]:
    """Bodies of bytes, and which of them are text of ASCII characters only."""
    data, bounds = octets(bodies)
    unsure = np.flatnonzero(data - _FIRST_PRINTABLE >= _PRINTABLES)
    good = np.ones(len(bodies), np.bool_)
    good[_rows_of(unsure[~_TEXT_CONTROLS[data[unsure]]], bounds)] = False
    return string_array(bounds.astype(np.int32), data), good


def _rows_of(places: Offsets, bounds: Offsets) -> Offsets:
    """The rows that these places are in."""
    return np.searchsorted(bounds, places, "right") - 1


_USUAL_TYPES: Final = (
    (int(BodyType.VT_BSTR), _wide_ascii),
    (int(BodyType.VT_EMPTY), _plain_ascii),
)
