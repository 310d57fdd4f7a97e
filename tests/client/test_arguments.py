"""Arguments of callers."""

from datetime import timedelta
from typing import Any

import pytest

from openmsmq.client.arguments import message_of, seconds, several, whole
from openmsmq.client.local.requests import checked
from openmsmq.client.message import Message
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.protocol.local import messages as local


@pytest.mark.parametrize(
    ("value", "expected"), [(None, None), (2, 2), (0.5, 0.5), (timedelta(minutes=1), 60.0)]
)
def test_a_time_is_seconds_or_a_timedelta(
    value: float | timedelta | None, expected: float | None
) -> None:
    assert seconds("timeout", value) == expected


def test_another_time_is_refused_by_name() -> None:
    wrong: Any = "5"
    with pytest.raises(TypeError, match=r"^timeout: seconds or a timedelta are taken, not str$"):
        seconds("timeout", wrong)


@pytest.mark.parametrize("body", ["text", b"bytes", bytearray(b"bytes"), memoryview(b"bytes")])
def test_text_and_bytes_are_bodies(body: Any) -> None:
    assert message_of(body) == Message(body)


def test_a_message_is_taken_as_it_is() -> None:
    message = Message("text")
    assert message_of(message) is message


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5, "^message: a Message, str or bytes is taken, not int$"),
        ({"a": 1}, r"not dict; Message\.json\(\.\.\.\) makes one of it$"),
        (ReceivedMessage(b"", 1, 0.0), r"not ReceivedMessage; its to_message\(\) is one to send$"),
    ],
)
def test_anything_else_is_no_message(value: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        message_of(value)


def test_a_count_is_a_whole_number_from_1_on() -> None:
    assert whole("count", 1) == 1
    with pytest.raises(ValueError, match=r"^count: 0 is less than 1$"):
        whole("count", 0)
    wrong: Any = "3"
    with pytest.raises(TypeError, match=r"^count: a whole number is taken, not str$"):
        whole("count", wrong)


@pytest.mark.parametrize("one", ["text", b"bytes", 7, Message("text")])
def test_one_value_is_no_list_of_values(one: object) -> None:
    with pytest.raises(TypeError, match=r"^things: a list of them is taken, not one "):
        several("things", one, "them")


def test_any_other_thing_may_be_a_list() -> None:
    assert several("things", None, "them") is None
    assert several("things", [1], "them") == [1]


def test_a_request_with_the_right_types_is_taken_as_it_is() -> None:
    request = local.Lookup(1, 2, 3)
    assert checked(request) is request


@pytest.mark.parametrize(
    ("kind", "fields", "text"),
    [
        (local.Lookup, (2, "3"), "^lookup_id: expected `int`, got `str`$"),
        (local.CreateQueue, (5, {}), "^path: expected `str`, got `int`$"),
        (local.CreateQueue, ("path", {"quota": []}), "^properties: expected "),
        (local.CreateQueue, ("path", {"quota": object()}), "^CreateQueue: encoding objects"),
        (local.Move, (1, 2, ["3"]), "^lookup_ids: expected `int`, got `str`$"),
    ],
)
def test_a_request_with_other_types_is_refused_by_field(
    kind: Any, fields: tuple[object, ...], text: str
) -> None:
    with pytest.raises(TypeError, match=text):
        checked(kind(1, *fields))
