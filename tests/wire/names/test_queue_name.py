r"""[MS-MQMQ] 2.1: the queue part of path names and direct names."""

import pytest

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.queue_name import (
    NameText,
    QueueName,
    QueueScope,
    Suffix,
    move_target,
    parse_queue_name,
)


def parse(text: str) -> QueueName:
    source = NameText(text, Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
    return parse_queue_name(source, 0, len(text))


@pytest.mark.parametrize(
    ("text", "scope", "name", "suffix", "subqueue"),
    [
        ("orders", QueueScope.PUBLIC, "orders", Suffix.NONE, ""),
        (r"private$\orders", QueueScope.PRIVATE, "orders", Suffix.NONE, ""),
        (r"PRIVATE$\Orders", QueueScope.PRIVATE, "Orders", Suffix.NONE, ""),
        (r"private$\orders;journal", QueueScope.PRIVATE, "orders", Suffix.JOURNAL, ""),
        ("orders;Journal", QueueScope.PUBLIC, "orders", Suffix.JOURNAL, ""),
        (r"private$\orders;retry", QueueScope.PRIVATE, "orders", Suffix.SUBQUEUE, "retry"),
        ("system$;journal", QueueScope.SYSTEM, "", Suffix.JOURNAL, ""),
        ("SYSTEM$;DeadLetter", QueueScope.SYSTEM, "", Suffix.DEADLETTER, ""),
        ("system$;deadxact", QueueScope.SYSTEM, "", Suffix.DEADXACT, ""),
        ("system$;order_queue$", QueueScope.SYSTEM, "order_queue$", Suffix.NONE, ""),
        ("bestellungen_für_Ω", QueueScope.PUBLIC, "bestellungen_für_Ω", Suffix.NONE, ""),
    ],
)
def test_forms(text: str, scope: QueueScope, name: str, suffix: Suffix, subqueue: str) -> None:
    parsed = parse(text)
    assert (parsed.scope, parsed.name, parsed.suffix, parsed.subqueue) == (
        scope,
        name,
        suffix,
        subqueue,
    )


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (r"PRIVATE$\Orders;JournaL", r"private$\Orders;JOURNAL"),
        (r"Private$\orders;Retry", r"private$\orders;Retry"),
        ("SYSTEM$;deadxact", "system$;DEADXACT"),
        ("system$;Notify_Queue$", "system$;Notify_Queue$"),
    ],
)
def test_canonical_text(text: str, printed: str) -> None:
    assert str(parse(text)) == printed


def test_names_are_equal_without_regard_to_case() -> None:
    lower, upper = parse(r"private$\orders;retry"), parse(r"PRIVATE$\ORDERS;RETRY")
    assert lower == upper
    assert hash(lower) == hash(upper)
    assert lower != parse(r"private$\orders")
    assert parse("orders") != parse(r"private$\orders")


@pytest.mark.parametrize(
    ("text", "character", "reason"),
    [
        ("", 1, "no queue name"),
        ("private$\\", 10, "no queue name"),
        ("private$", 9, r"no queue name after private\$"),
        ("system$", 8, "no ;JOURNAL, ;DEADLETTER or ;DEADXACT"),
        ("system$;", 9, "no queue name"),
        ("system$;xactonly", 8, ";XACTONLY belongs to connector"),
        (r"system$\orders", 8, "may not hold '\\\\\\\\'"),
        ("my orders", 3, "a queue name may not hold ' '"),
        (r"private$\a+b", 11, "may not hold '\\+'"),
        (r"private$\a\b", 11, "a queue name may not hold"),
        ("a\x00b", 2, "may not hold"),
        ("a\ud800", 2, "may not hold"),
        ("orders;", 8, "no subqueue name"),
        ("orders;a;b", 9, "a subqueue name may not hold ';'"),
        ("orders;deadletter", 7, ";DEADLETTER does not belong to a queue"),
        ("orders;xactonly", 7, ";XACTONLY does not belong to a queue"),
    ],
)
def test_a_fault_says_what_and_where(text: str, character: int, reason: str) -> None:
    with pytest.raises(QueueError, match=reason) as caught:
        parse(text)
    assert f"at character {character} of" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "too_long"),
    [
        ("q" * 124, "q" * 125),
        ("\U0001f4e8" * 62, "\U0001f4e8" * 62 + "q"),
        ("q;" + "s" * 32, "q;" + "s" * 33),
    ],
)
def test_the_limits_count_utf16_units(text: str, too_long: str) -> None:
    assert str(parse(text)) == text
    with pytest.raises(QueueError, match="has at most"):
        parse(too_long)


def test_a_fault_cuts_a_long_name() -> None:
    with pytest.raises(QueueError) as caught:
        parse("\x1b" * 100_000)
    assert len(str(caught.value)) < 500
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [
        (r".\private$\orders", ";held", r".\private$\orders;held"),
        (r".\private$\orders;held", ";later", r".\private$\orders;later"),
        (r".\private$\orders", ";deadletter", ";deadletter"),
        (r".\private$\orders;held", r".\private$\orders", r".\private$\orders"),
    ],
)
def test_the_target_of_a_move_may_be_a_subqueue_of_the_source(
    source: str, target: str, name: str
) -> None:
    assert move_target(source, target) == name
