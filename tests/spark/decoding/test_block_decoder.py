from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.spark.packets import ORDERS, block_of, blocks

import openmsmq
from openmsmq.client.received_message import PROPERTIES
from openmsmq.spark.columns import BODY_FORMATS, INCLUDES, Packets, message_schema
from openmsmq.spark.decoding.block_decoder import BlockDecoder
from openmsmq.spark.decoding.row_decoder import RowDecoder
from openmsmq.wire.message.user_message_builder import build_user_message


@given(blocks(), st.sampled_from(BODY_FORMATS), st.sampled_from(["", str(UUID(int=1))]))
@settings(max_examples=200, deadline=None)
def test_rows_are_the_same_as_one_at_a_time(block: Packets, body_format: str, machine: str) -> None:
    schema = message_schema(INCLUDES, body_format=body_format)
    by_row = RowDecoder(
        schema, queue="q", queue_kind="journal", body_format=body_format, machine=machine
    )
    expected = by_row.decode(block)
    decoder = BlockDecoder(
        schema, queue="q", queue_kind="journal", body_format=body_format, machine=machine
    )
    found = decoder.decode(block)
    found.validate(full=True)
    assert found.schema == expected.schema
    assert found.to_pylist() == expected.to_pylist()
    assert found.equals(expected)


def decoder_of(*names: str, body_format: str = "binary") -> BlockDecoder:
    schema = message_schema(INCLUDES, body_format=body_format)
    part = pa.schema([schema.field(name) for name in names])
    return BlockDecoder(part, queue="q", queue_kind="queue", body_format=body_format)


def message(number: int) -> bytes:
    return build_user_message(destination_queue=ORDERS, label=f"order {number}", body=b"body")


@given(blocks(), st.lists(st.sampled_from(message_schema(INCLUDES).names), unique=True))
@settings(max_examples=50, deadline=None)
def test_a_part_of_the_columns_is_that_part_of_all(block: Packets, names: list[str]) -> None:
    every = BlockDecoder(message_schema(INCLUDES), queue="q", queue_kind="queue").decode(block)
    found = decoder_of(*names).decode(block)
    assert found.schema.names == names
    assert found.num_rows == (every.num_rows if names else 0)
    assert found.to_pydict() == {name: every[name].to_pylist() for name in names}


def test_malformed_packets_stay_in_their_place() -> None:
    packets = [b"", message(1), b"no packet", message(2), message(3)[:-4]]
    rows = decoder_of("label", "decode_error", "raw_packet").decode(block_of(packets)).to_pylist()
    assert [row["label"] for row in rows] == [None, "order 1", None, "order 2", None]
    assert [row["decode_error"] is None for row in rows] == [False, True, False, True, False]
    assert [row["raw_packet"] for row in rows] == packets


def test_packets_are_not_looked_at_when_no_column_needs_them() -> None:
    block = Packets(b"", [5, 3], [7, 8], [0.0, 1.0])
    assert decoder_of("seq", "queue").decode(block).to_pydict() == {
        "seq": [7, 8],
        "queue": ["q", "q"],
    }


@pytest.mark.parametrize("ends", [[5, 3], [3, 6], [-1, 5]])
def test_ends_that_are_none_are_refused(ends: list[int]) -> None:
    with pytest.raises(ValueError, match="ends: are not the places"):
        decoder_of("label").decode(Packets(b"12345", ends))


def test_ordinary_packets_are_not_decoded_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = BlockDecoder(message_schema(INCLUDES), queue="q", queue_kind="queue")
    monkeypatch.delattr(RowDecoder, "decode")
    block = block_of([message(number) for number in range(5)])
    assert decoder.decode(block)["label"].to_pylist() == [f"order {n}" for n in range(5)]


def test_the_blob_may_be_a_view_of_something_larger() -> None:
    packet = message(1)
    view = memoryview(b"before" + packet + b"behind")[6:-6]
    found = decoder_of("label", "body").decode(Packets(view, [len(packet)]))
    assert found.to_pylist() == [{"label": "order 1", "body": b"body"}]


def test_the_block_of_a_queue_manager_is_decoded(tmp_path: Path) -> None:
    with openmsmq.embedded(tmp_path / "data") as qm:
        queue = qm.create_queue(r".\private$\orders")
        queue.send(openmsmq.Message(body="text", label="first", priority=7))
        with qm.open_queue(r".\private$\orders", access="peek") as opened:
            (block,) = [block for block in opened.ranges.peek(0, 2**56 - 1) if block.ends]
            received = opened.peek()
        machine = qm.identity.guid
    decoder = BlockDecoder(message_schema(), queue="q", queue_kind="queue", machine=machine)
    (row,) = decoder.decode(block).to_pylist()
    for name in PROPERTIES:
        if name not in ("body", "body_base64"):
            assert row[name] == getattr(received, name), name
    assert row["body"] == received.body_bytes
    assert row["seq"] == received.lookup_id & (1 << 56) - 1
