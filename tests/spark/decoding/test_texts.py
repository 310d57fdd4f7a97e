from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.spark.decoding.texts import (
    TextColumn,
    guid_texts,
    identifier_texts,
    in_rows,
    octets,
    pick,
    wide_texts,
)
from openmsmq.wire.scalars import MessageIdentifier
from openmsmq.wire.wide_text import lenient_text

code_units = st.binary(max_size=12) | st.text(max_size=6).map(lambda text: text.encode("utf-16-le"))


@given(st.lists(code_units.map(lambda raw: raw[: len(raw) & ~1]), max_size=5))
def test_wide_texts_are_read_like_one_at_a_time(values: list[bytes]) -> None:
    found = wide_texts(pa.array(values, pa.binary()))
    found.validate(full=True)
    assert found.to_pylist() == [lenient_text(value) for value in values]


def test_halves_of_a_pair_in_two_texts_do_not_meet() -> None:
    values = [
        "\ud83d".encode("utf-16-le", "surrogatepass"),
        "\ude00".encode("utf-16-le", "surrogatepass"),
    ]
    assert wide_texts(pa.array(values, pa.binary())).to_pylist() == ["\ufffd", "\ufffd"]


@given(st.lists(st.uuids(), max_size=4), st.booleans())
def test_guids_are_written_in_braces(guids: list[UUID], same: bool) -> None:  # noqa: FBT001 - drawn
    guids = guids[:1] * len(guids) if same else guids
    raw = np.array([guid.bytes_le for guid in guids], "V16")
    assert guid_texts(raw).to_pylist() == [f"{{{str(guid).upper()}}}" for guid in guids]
    ordinals = np.arange(len(guids), dtype=np.uint32)
    expected = [str(MessageIdentifier(guid, number)) for number, guid in enumerate(guids)]
    assert identifier_texts(raw, ordinals).to_pylist() == expected


def test_a_text_that_repeats_is_made_once() -> None:
    made = []

    def text(raw: bytes) -> str:
        made.append(raw)
        return raw.decode()

    column = TextColumn(5)
    column.add(np.array([0, 2, 3]), pa.array([b"a", b"b", b"a"]), text)
    column.add(np.array([4]), pa.array([b"a"]), text)
    assert column.finish().to_pylist() == ["a", None, "b", "a", "a"]
    assert made == [b"a", b"b", b"a"]


@pytest.mark.parametrize("codes", [[0, 1, -1], [1, 1], [-1, -1], []])
def test_texts_are_picked_by_number(codes: list[int]) -> None:
    texts: list[str | None] = ["a", "b"]
    expected = [texts[code] if code >= 0 else None for code in codes]
    assert pick(texts, np.array(codes, np.int64)).to_pylist() == expected


def test_parts_go_to_their_rows() -> None:
    parts = [(np.array([3, 0]), pa.array(["a", "b"])), (np.array([1]), pa.array(["c"]))]
    assert in_rows(parts, 4).to_pylist() == ["b", "c", None, "a"]


def test_octets_of_a_part_of_an_array_are_its_own() -> None:
    data, bounds = octets(pa.array([b"ab", b"", b"cde"]).slice(1))
    assert (data.tobytes(), bounds.tolist()) == (b"cde", [0, 0, 3])
    data, bounds = octets(pa.array([], pa.binary()))
    assert (data.tobytes(), bounds.tolist()) == (b"", [0])
