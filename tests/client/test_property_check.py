"""Properties of messages to send."""

from datetime import timedelta
from typing import Any

import pytest

from openmsmq.client.message import Message
from openmsmq.client.property_check import check_properties, wire_seconds
from openmsmq.wire.packets.base_header import INFINITE


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("label", 5, "text is taken, not int"),
        ("body_type", "8", "a number or None is taken, not str"),
        ("priority", "3", "a number is taken, not str"),
        ("delivery", 1, "text is taken, not int"),
        ("time_to_reach_queue", "5", "seconds, a timedelta or None are taken, not str"),
        ("time_to_be_received", "5", "seconds, a timedelta or None are taken, not str"),
        ("acknowledge", None, "words or flags are taken, not NoneType"),
        ("admin_queue", 5, "the name of a queue or None is taken, not int"),
        ("response_queue", 5, "the name of a queue or None is taken, not int"),
        ("correlation_id", 5, "the id of a message or None is taken, not int"),
        ("app_specific", "1", "a number is taken, not str"),
        ("extension", "x", "bytes are taken, not str"),
        ("journal", "yes", "True or False is taken, not str"),
        ("dead_letter", 1, "True or False is taken, not int"),
        ("trace_queue", 5, "a GUID or None is taken, not int"),
        ("class_", "x", "a number is taken, not str"),
    ],
)
def test_another_type_is_refused_by_name(name: str, value: Any, text: str) -> None:
    with pytest.raises(TypeError, match=f"^{name}: {text}$"):
        check_properties(Message(**{name: value}))


@pytest.mark.parametrize(
    ("name", "value", "largest"),
    [
        ("priority", 8, 7),
        ("app_specific", -1, 0xFFFFFFFF),
        ("body_type", 1 << 32, 0xFFFFFFFF),
        ("class_", 1 << 16, 0xFFFF),
    ],
)
def test_a_number_out_of_range_is_refused_by_name(name: str, value: Any, largest: int) -> None:
    with pytest.raises(ValueError, match=rf"^{name}: {value} is not in 0\.\.{largest}$"):
        check_properties(Message(**{name: value}))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, INFINITE),
        (0, 0),
        (60, 60),
        (1.2, 2),
        (timedelta(hours=1), 3600),
        (timedelta(milliseconds=1), 1),
    ],
)
def test_a_time_is_whole_seconds_in_a_packet(
    value: float | timedelta | None, expected: int
) -> None:
    assert wire_seconds("time_to_be_received", value) == expected


@pytest.mark.parametrize("value", [-1, timedelta(seconds=-1), float("nan"), float("inf"), 1 << 32])
def test_a_time_that_no_packet_holds_is_refused_by_name(value: float | timedelta) -> None:
    with pytest.raises(ValueError, match=r"^time_to_be_received: .* seconds are not in"):
        wire_seconds("time_to_be_received", value)


def test_half_of_a_surrogate_pair_is_not_a_label() -> None:
    check_properties(Message(b"", label="whole: \U0001f600"))
    with pytest.raises(ValueError, match="label: half of a surrogate pair is not text"):
        check_properties(Message(b"", label="half: \ud83d"))
