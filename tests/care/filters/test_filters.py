"""Filters: read, kept as data, and compared with messages."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.care.filters import (
    And,
    Comparison,
    Condition,
    FilterError,
    Matcher,
    Not,
    Or,
    Term,
    filter_from_data,
    filter_terms,
    filter_to_data,
    parse_filter,
)
from openmsmq.client import ReceivedMessage
from openmsmq.client.received_message import PROPERTIES as MESSAGE_PROPERTIES
from openmsmq.protocol.local.messages import pack_block
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address

NOW = 1_700_000_000.0


def packet(body: bytes = b"body", label: str = "", **rest: object) -> bytes:
    options = {"destination_queue": direct_address(r"OS:qm\private$\orders"), **rest}
    return build_user_message(body=body, label=label, **options)  # type: ignore[arg-type]


def found(text: str, *packets: bytes, ages: tuple[float, ...] = ()) -> list[int]:
    """The places of the packets that a filter holds for."""
    ends = [sum(map(len, packets[: at + 1])) for at in range(len(packets))]
    times = [NOW - age for age in ages] or [NOW] * len(packets)
    block = pack_block(1, b"".join(packets), ends, range(len(packets)), times, [])
    return [each.lookup_id for each in Matcher(parse_filter(text)).select("orders", block, NOW)]


def test_words_of_people() -> None:
    assert parse_filter("label ~ order and age > 1h") == And(
        (Comparison("label", "~", "order"), Comparison("age", ">", 3600.0))
    )
    assert parse_filter("NOT (priority in (1, 2) or transactional = yes)") == Not(
        Or(
            (
                Or((Comparison("priority", "=", 1), Comparison("priority", "=", 2))),
                Comparison("transactional", "=", True),
            )
        )
    )
    assert parse_filter('label = \'it\'\'s\' or label = "a ""b"""') == Or(
        (Comparison("label", "=", "it's"), Comparison("label", "=", 'a "b"'))
    )
    assert parse_filter("label not in (a)") == Not(Or((Comparison("label", "=", "a"),)))
    assert parse_filter("correlation_id = null") == Comparison("correlation_id", "=", None)
    assert parse_filter("label = 'null'") == Comparison("label", "=", "null")
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp()
    assert parse_filter("sent_time >= 2026-01-31T12:00") == Comparison("sent_time", ">=", moment)
    assert parse_filter("body_size > 64KiB") == Comparison("body_size", ">", 65536)
    assert parse_filter("age<1d12h") == Comparison("age", "<", 129_600.0)
    assert parse_filter("class == 0xC002") == Comparison("class", "=", 0xC002)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "ends where a property is missing"),
        ("labl ~ x", "'labl' is not a property"),
        ("label", "ends where an operator"),
        ("label is x", "'is' at character 7 must be one of"),
        ("label ~", "the value of label is missing"),
        ("label ~ two words", "'words' at character 13 must be and, or, or the end"),
        ("label ~ 'open", "the quotation mark ' at character 9 is not closed"),
        ("label  !x", "'!x' at character 8 cannot be read"),
        ("(label ~ x", "')' is missing"),
        ("label ~ )", "')' at character 9 must be a value"),
        ("age > soon", "'soon' is not a time span such as"),
        ("age > 3y", "'y' must be one of"),
        ("priority > high", "'high' is not a number"),
        ("priority ~ 3", "'~' does not go with priority, which takes =, !=, <"),
        ("body > 3", "'>' does not go with body, which takes =, !=, ~, contains"),
        ("transactional = maybe", "neither true nor false"),
        ("sent_time > yesterday", "'yesterday' is not a time"),
        ("label < null", "which takes =, !="),
        ("label not x", "'x' at character 11 must be 'in'"),
        ("(" * 60 + "label ~ x" + ")" * 60, "deep"),
        ("not " * 60 + "label ~ x", "deep"),
        (" or ".join(["priority = 1"] * 1001), "up to 1000 terms"),
    ],
)
def test_what_cannot_be_read_names_the_place(text: str, said: str) -> None:
    with pytest.raises(FilterError, match="MQ_ERROR_INVALID_PARAMETER") as caught:
        parse_filter(text)
    assert said in caught.value.detail
    assert caught.value.remedy


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"and": []},
        {"xor": []},
        {"property": "label", "operator": "~"},
        {"property": 1, "operator": "~", "value": "x"},
        {"property": "label", "operator": "~", "value": 3},
        {"property": "transactional", "operator": "=", "value": 1},
        {"property": "priority", "operator": "=", "value": True},
        {"not": {"and": [{"property": "label", "operator": "=~", "value": "x"}]}},
    ],
)
def test_data_that_is_no_condition(data: object) -> None:
    with pytest.raises(FilterError):
        filter_from_data(data)


comparisons = st.one_of(
    st.builds(Comparison, st.just("label"), st.sampled_from(["=", "~", "like"]), st.text()),
    st.builds(Comparison, st.just("priority"), st.sampled_from(["<", "!="]), st.integers(0, 7)),
    st.builds(Comparison, st.just("encrypted"), st.just("="), st.booleans()),
)
conditions: st.SearchStrategy[Condition] = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=8,
)


@given(conditions)
def test_a_condition_survives_json(condition: Condition) -> None:
    data = json.loads(json.dumps(filter_to_data(condition)))
    assert filter_from_data(data) == condition


def test_every_property_of_messages_can_be_named() -> None:
    for name in MESSAGE_PROPERTIES:
        if name != "body_base64":
            assert found(f"{name} = null or {name} != null", packet()) == [0]


def test_text_in_labels_and_bodies() -> None:
    packets = (
        packet("Übung macht den Meister".encode(), "Order 1"),
        packet("Übung macht den Meister".encode("utf-16-le"), "ORDER 2"),
        packet(b"x" + "Übung".encode("utf-16-le"), "bill"),
        packet(b"", "K and \u212a"),
    )
    assert found("label ~ order", *packets) == [0, 1]
    assert found("label contains Order", *packets) == [0]
    assert found("label like 'Order *'", *packets) == [0]
    assert found("label = bill", *packets) == [2]
    assert found("body ~ 'übung MACHT'", *packets) == [0, 1]
    assert found("body contains Übung", *packets) == [0, 1, 2]
    assert found("body ~ übung", *packets) == [0, 1, 2]
    assert found("body contains übung", *packets) == []
    assert found("body = ''", *packets) == [3]
    # A sign whose small form is a letter of ASCII.
    assert found("label ~ 'and k'", *packets) == [3]
    assert found("label ~ ''", *packets) == [0, 1, 2, 3]
    assert found("label != bill and not label ~ order", *packets) == [3]


def test_times_and_numbers() -> None:
    packets = (packet(priority=7), packet(b"x" * 5000))
    assert found("priority >= 7", *packets) == [0]
    assert found("size > 4KiB", *packets) == [1]
    assert found("age > 1h", *packets, ages=(10.0, 7200.0)) == [1]
    assert found("queue = orders and age < 1min", *packets, ages=(10.0, 7200.0)) == [0]
    assert found("time_to_be_received = null", *packets) == [0, 1]
    assert found("reason ~ 'without a reason'", *packets) == [0, 1]


@given(
    st.lists(st.text(st.sampled_from("kKiIaA\u212a\u0130\u0131ß \u00e4"), max_size=4), max_size=6),
    st.text(st.sampled_from("kKiIaA\u212a\u00e4"), min_size=1, max_size=2),
)
def test_looking_through_a_block_first_leaves_nothing_out(labels: list[str], text: str) -> None:
    packets = [packet(label.encode(), label) for label in labels]
    for name in ("label", "body"):
        condition = Comparison(name, "~", text)
        matcher = Matcher(condition)
        slow = [
            at
            for at, each in enumerate(packets)
            if matcher.holds("orders", ReceivedMessage(each, at, NOW), NOW)
        ]
        assert found(f"{name} ~ '{text}'", *packets) == slow


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("label ~ order", ["label ~ order"]),
        (" label ~ order AND  age > 1h ", ["label ~ order", "age > 1h"]),
        ("label = and and label = 'a and b'", ["label = and", "label = 'a and b'"]),
        ("label ~ a or label ~ b and age > 1h", ["label ~ a or label ~ b and age > 1h"]),
        ("(label ~ a or label ~ b) and age > 1h", ["(label ~ a or label ~ b)", "age > 1h"]),
        ("not age > 1h and priority in (1, 2)", ["not age > 1h", "priority in (1, 2)"]),
        ("label ~ a and age > 1h or priority = 3", ["label ~ a and age > 1h or priority = 3"]),
    ],
)
def test_a_filter_has_parts_that_all_must_hold(text: str, terms: list[str]) -> None:
    assert [term.text for term in filter_terms(text)] == terms
    joined = " and ".join(term.text for term in filter_terms(text))
    assert parse_filter(joined) == parse_filter(text)


def test_a_part_names_what_it_compares() -> None:
    assert filter_terms("Label ~ 'it''s'") == [Term("Label ~ 'it''s'", "label", "~", "it's")]
    assert filter_terms("not (age > 1h)") == [Term("not (age > 1h)")]
    with pytest.raises(FilterError):
        filter_terms("label ~ a and")
