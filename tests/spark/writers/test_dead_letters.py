"""Messages about rows that cannot be sent: they always fit, whatever is in the row."""

import base64
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.client.logic.packet_templates import Sender
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.message import Message
from openmsmq.spark.writers import dead_letters
from openmsmq.spark.writers.dead_letters import Excerpt, dead_letter
from openmsmq.spark.writers.row_encoder import RowFault
from openmsmq.wire.names.format_name import parse_format_name

NAME = parse_format_name(r"DIRECT=OS:ALPHA\private$\dead")
BUILDER = PacketBuilder(Sender(computer_name="ALPHA", sid=b""), transactional=True)
NESTED = pa.list_(pa.struct([("text", pa.string()), ("data", pa.binary())]))


def letter(
    batch: pa.RecordBatch, fault: RowFault | None = None, *, most: int = 2 << 20
) -> tuple[Message, dict[str, Any]]:
    message = dead_letter(batch, fault or RowFault(0, "body", "too large"), "row 0")
    BUILDER.build(message)
    assert isinstance(message.body, bytes)
    assert len(message.body) < most
    return message, json.loads(message.body)


def row(**values: Any) -> pa.RecordBatch:
    arrays = [each if isinstance(each, pa.Array) else pa.array([each]) for each in values.values()]
    return pa.record_batch(arrays, names=list(values))


@pytest.mark.parametrize(
    "value",
    [
        "\x01" * 3_000_000,
        "😀" * 3_000_000,
        '"' * 5_000_000,
        b"\0" * 5_000_000,
        pa.array([[{"text": "\x01" * 2_000_000, "data": b"x" * 2_000_000}] * 3], NESTED),
        pa.array([list(range(2_000_000))]),
        pa.array(
            [[(str(each), "x") for each in range(500_000)]], pa.map_(pa.string(), pa.string())
        ),
    ],
)
def test_a_value_is_cut_by_the_bytes_that_it_takes(value: Any) -> None:
    _, document = letter(row(body=value, label="behind it", more=7))
    assert document["cut"] == ["body"]
    assert len(json.dumps(document["row"]["body"])) > 100_000
    assert (document["row"]["label"], document["row"]["more"]) == ("behind it", 7)


def test_long_reasons_and_many_columns_fit_too() -> None:
    names = [f"{'ä' * 300}{number}" for number in range(5000)]
    batch = pa.record_batch([pa.array(["x" * 100])] * len(names), names=names)
    fault = RowFault(0, "y" * 3_000_000, "\x02" * 3_000_000)
    message, document = letter(batch, fault, most=3 << 20)
    assert names[0] in document["row"]
    assert names[-1] not in document["row"]
    assert len(message.label) <= 249


def test_values_of_every_kind_are_shown() -> None:
    data = {
        "binary": b"\0\xff",
        "when": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        "day": date(2026, 1, 2),
        "price": Decimal("1.20"),
        "none": pa.array([None], pa.string()),
        "yes": True,
        "half": 0.5,
        "infinite": float("inf"),
        "nested": pa.array([[{"text": "a", "data": b"b"}]], NESTED),
        "broken": pa.array([b"a\xff"]).view(pa.string()),
        "late": pa.array([1 << 62]).cast(pa.timestamp("us")),
    }
    _, document = letter(row(**data))
    late = document["row"].pop("late")
    assert late.startswith("timestamp[us], ")
    assert document["row"] == {
        "binary": base64.b64encode(b"\0\xff").decode(),
        "when": "2026-01-02T03:04:05+00:00",
        "day": "2026-01-02",
        "price": "1.20",
        "none": None,
        "yes": True,
        "half": 0.5,
        "infinite": "inf",
        "nested": [{"text": "a", "data": base64.b64encode(b"b").decode()}],
        "broken": "a\ufffd",
    }
    assert (document["cut"], document["at"], document["column"]) == ([], "row 0", "body")


_LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**64) | st.floats() | st.text()
_VALUES = st.recursive(
    _LEAVES | st.binary() | st.dates() | st.decimals(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_VALUES, st.integers(0, 200))
def test_an_excerpt_keeps_within_its_room_and_is_whole_if_it_can(value: Any, room: int) -> None:
    part = Excerpt(room)
    size = len(dead_letters._json(part.show(value)))
    # A number or a pair of quotes more at the end, and the brackets around that.
    assert size <= part.used + 2 * 40
    assert part.used <= room + 40
    whole = Excerpt(1 << 30)
    shown = whole.show(value)
    assert not whole.is_cut
    if not part.is_cut:
        assert Excerpt(room).show(value) == shown


@given(st.text(), st.integers(0, 100))
def test_a_text_is_as_long_as_there_is_room_for(text: str, room: int) -> None:
    kept = dead_letters._beginning(text, room)
    assert text.startswith(kept)
    if room >= 2:
        assert dead_letters._size(kept) <= room
        if kept != text:
            assert dead_letters._size(text[: len(kept) + 1]) > room
