"""Packets from rows."""

import re
from typing import Any

import pyarrow as pa
import pytest

from openmsmq.client.logic.packet_templates import Sender
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.message import Message
from openmsmq.spark.writers import row_encoder
from openmsmq.spark.writers.row_encoder import EncodedRows, Place, RowEncoder, RowFault, WrongQueue
from openmsmq.spark.writers.write_columns import WriteColumns
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.names.format_name import parse_format_name

ORDERS = r".\private$\orders"
NAME = parse_format_name(r"DIRECT=OS:ALPHA\private$\orders")
ID = "{00112233-4455-6677-8899-AABBCCDDEEFF}\\7"


class FakeTarget:
    """A queue that nobody has opened; only one that is far away cares what a row says."""

    def __init__(self, name: str, *, transactional: bool | None = None) -> None:
        self.place = Place(name, transactional if "far" in name else None)
        sender = Sender(computer_name="ALPHA", sid=b"")
        self.builder = PacketBuilder(sender, transactional=bool(self.place.transactional))


def open_fake(name: str, transactional: bool | None) -> FakeTarget:  # noqa: FBT001 - of a row
    if "missing" in name:
        raise WrongQueue(Hresult.MQ_ERROR_QUEUE_NOT_FOUND, "no such queue")
    return FakeTarget(name, transactional=transactional)


def encode(
    types: dict[str, pa.DataType] | None = None,
    *,
    default_queue: str | None = ORDERS,
    **columns: list[Any],
) -> EncodedRows:
    given = types or {}
    arrays = {name: pa.array(values, given.get(name)) for name, values in columns.items()}
    batch = pa.record_batch(list(arrays.values()), names=list(arrays))
    text = "body" in arrays and pa.types.is_string(arrays["body"].type)
    names = WriteColumns({name: name for name in columns}, text_body=text)
    return RowEncoder(names, open_fake, queue=default_queue).encode(batch)


def views(
    encoded: EncodedRows, queue: str = ORDERS, *, transactional: bool | None = None
) -> list[UserMessage]:
    assert encoded.faults == []
    return [UserMessage(packet) for packet in encoded.packets[Place(queue, transactional)]]


def test_a_row_of_all_properties_becomes_the_message_of_a_client() -> None:
    class_column: dict[str, Any] = {"class": [2]}
    (packet,) = encode(
        body=[b"body"],
        label=["label"],
        body_type=[17],
        priority=[7],
        correlation_id=[ID],
        app_specific=[9],
        extension=[b"more"],
        delivery=["express"],
        time_to_reach_queue=[60],
        time_to_be_received=[90],
        response_queue=[r".\private$\answers"],
        admin_queue=[r".\private$\admin"],
        acknowledge=["full"],
        journal=[3],
        **class_column,
    ).packets[Place(ORDERS)]
    message = Message(
        b"body",
        "label",
        body_type=17,
        priority=7,
        correlation_id=ID,
        app_specific=9,
        extension=b"more",
        delivery="express",
        time_to_reach_queue=60,
        time_to_be_received=90,
        response_queue=r".\private$\answers",
        admin_queue=r".\private$\admin",
        acknowledge="full",
        journal=True,
        dead_letter=True,
        class_=2,
    )
    assert packet == FakeTarget(ORDERS).builder.build(message)


def test_missing_columns_and_nulls_are_the_defaults_and_recoverable() -> None:
    default = FakeTarget(ORDERS).builder.build(Message(b"", delivery="recoverable"))
    assert encode(body=[b""]).packets == {Place(ORDERS): [default]}
    nulls = encode(
        {"body": pa.binary(), "label": pa.string(), "priority": pa.int8(), "delivery": pa.string()},
        body=[None],
        label=[None],
        priority=[None],
        delivery=[None],
    )
    assert nulls.packets == {Place(ORDERS): [default]}


def test_a_null_time_is_for_ever() -> None:
    (view,) = views(
        encode({"time_to_reach_queue": pa.int64()}, body=[b""], time_to_reach_queue=[None])
    )
    assert view.time_to_reach_queue == 0xFFFFFFFF


def test_text_is_utf_16_unless_its_body_type_says_otherwise() -> None:
    found = views(encode(body=["a", "b", "c", "d"], body_type=[None, 30, 31, 0]))
    assert [(view.body, view.body_type) for view in found] == [
        (b"a\0", 8),
        (b"b", 30),
        (b"c\0", 31),
        (b"d", 0),
    ]


def test_text_is_utf_8_when_asked_for() -> None:
    batch = pa.record_batch([pa.array(["ä", None])], names=["body"])
    columns = WriteColumns({"body": "body"}, text_body=True)
    encoder = RowEncoder(columns, open_fake, queue=ORDERS, body_encoding="utf-8")
    found = views(encoder.encode(batch))
    assert [(view.body, view.body_type) for view in found] == [("ä".encode(), 0), (b"", 0)]


def test_rows_go_where_they_say_in_their_order() -> None:
    batch = pa.record_batch(
        [pa.array(["a", None, "b", "a"]), pa.array([b"1", b"2", b"3", b"4"])], names=["to", "body"]
    )
    columns = WriteColumns({"queue": "to", "body": "body"}, text_body=False)
    found = RowEncoder(columns, open_fake, queue=ORDERS).encode(batch)
    bodies = {
        place.name: [view.body for view in views(found, place.name)] for place in found.packets
    }
    assert bodies == {"a": [b"1", b"4"], ORDERS: [b"2"], "b": [b"3"]}


def test_rows_say_what_their_messages_are_on_other_machines() -> None:
    says = [True, False, None, True]
    captured = FakeTarget("x").builder.build(Message(b"4"))
    given: dict[str, Any] = {
        "body": [b"1", b"2", b"3", b""],
        "transactional": says,
        "raw_packet": [None, None, None, captured],
    }
    far = encode(queue=["far"] * 4, **given)
    found = {place: views(far, *place[:1], transactional=place[1]) for place in far.packets}
    assert {place: [view.body for view in group] for place, group in found.items()} == {
        ("far", True): [b"1", b"4"],
        ("far", False): [b"2"],
        ("far", None): [b"3"],
    }
    assert all(
        view.transactional == bool(place.transactional)
        for place, group in found.items()
        for view in group
    )
    # A local queue knows better, and keeps the order.
    assert [view.body for view in views(encode(**given))] == [b"1", b"2", b"3", b"4"]


def test_flags_may_be_words_numbers_or_booleans() -> None:
    (view,) = views(encode(body=[b""], acknowledge=[5], journal=[True]))
    assert (view.acknowledgments, view.positive_journaling, view.negative_journaling) == (
        5,
        True,
        False,
    )


def test_a_captured_packet_is_sent_again() -> None:
    captured = FakeTarget("x").builder.build(Message(b"body", "label", app_specific=5))
    encoded = encode(
        {"raw_packet": pa.binary()}, body=[b"not this", b"this"], raw_packet=[captured, None]
    )
    first, second = views(encoded)
    assert (first.body, first.label, first.application_tag) == (b"body", "label", 5)
    assert second.body == b"this"


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("priority", 8, "8 is not in 0..7"),
        ("priority", -1, "-1 is not in 0..7"),
        ("app_specific", 1 << 32, "4294967296 is not in 0..4294967295"),
        ("delivery", "fast", "'fast' must be one of express, recoverable"),
        ("acknowledge", "often", "'often' (is none|must be one) of"),
        ("acknowledge", 16, "16 is not in 0..15"),
        ("journal", 4, "4 is not in 0..3"),
        ("class", 1 << 16, "65536 is not in 0..65535"),
        ("time_to_reach_queue", -5, "-5 seconds are not in"),
        ("time_to_be_received", 1 << 33, "seconds are not in"),
        ("response_queue", "no name", ""),
        ("admin_queue", "no name", ""),
        ("body_type", -1, "-1 is not in"),
        ("label", "x" * 250, "at most 249"),
        ("correlation_id", "no id", ""),
        ("correlation_id", b"short", "has 5 bytes instead of 20"),
        ("raw_packet", b"nonsense", ""),
        ("queue", "missing", "missing: .*no such queue"),
    ],
)
def test_a_row_that_does_not_fit_names_its_column_and_spares_the_others(
    column: str, value: object, reason: str
) -> None:
    good = {"label": "fits", "correlation_id": None}.get(column)
    columns: dict[str, Any] = {"body": [b"good", b"bad", b"good"], column: [good, value, good]}
    encoded = encode(**columns)
    (fault,) = encoded.faults
    assert (fault.row, fault.column) == (1, column)
    assert re.search(reason, fault.reason)
    assert [UserMessage(packet).body for packet in encoded.packets[Place(ORDERS)]] == [
        b"good",
        b"good",
    ]


def test_a_text_that_is_none_is_a_fault_of_its_row() -> None:
    labels = pa.array([b"a", b"\xff", None, b"b"]).view(pa.string())
    encoded = encode(body=[b"1", b"2", b"3", b"4"], label=labels)
    (fault,) = encoded.faults
    assert (fault.row, fault.column) == (1, "label")
    assert "can't decode byte 0xff" in fault.reason
    packets = encoded.packets[Place(ORDERS)]
    assert [UserMessage(packet).label for packet in packets] == ["a", "", "b"]


def test_the_reasons_say_what_is_allowed() -> None:
    assert encode(body=[b""], priority=[9]).faults == [RowFault(0, "priority", "9 is not in 0..7")]
    (fault,) = encode(body=["text"], body_type=[17]).faults
    assert fault.reason.endswith("has 0 (VT_EMPTY), 8 (VT_BSTR), 30 (VT_LPSTR), 31 (VT_LPWSTR)")


def test_a_body_that_is_too_large_is_blamed_on_the_body() -> None:
    (fault,) = encode(body=[bytes(5_000_000)], label=["fits"], correlation_id=[ID]).faults
    assert (fault.column, "larger than" in fault.reason) == ("body", True)


def test_a_row_without_a_queue_is_a_fault() -> None:
    columns = {"queue": pa.array([None, ORDERS])}
    (fault,) = encode(default_queue=None, queue=columns["queue"], body=[b"", b""]).faults
    assert fault.column == "queue"


def test_templates_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_encoder, "MAX_FAMILIES", 2)
    found = views(encode(body=[b""] * 5, app_specific=[1, 2, 3, 1, 2]))
    assert [view.application_tag for view in found] == [1, 2, 3, 1, 2]
