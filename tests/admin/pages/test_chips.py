"""Chips: the conditions of a filter, each with the address without it."""

from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import QueryParams

from openmsmq.admin.pages.chips import Chip, filter_chips, text_chip
from openmsmq.admin.pages.frame import url_maker

WHERE = "label ~ 'Payment captured' and arrived_time < 2026-11-17 and (priority > 3 or age > 1h)"


def chips_of(where: str, **others: str) -> list[Chip]:
    query = QueryParams({"where": where, **others})
    return filter_chips(where, "where", url_maker("/queues/x", query))


def test_each_condition_has_words_and_the_address_without_it() -> None:
    label, arrived, others = chips_of(WHERE, sort="-age")
    assert (label.property, label.operator, label.value) == (
        "label",
        "contains",
        "Payment captured",
    )
    assert (arrived.property, arrived.operator) == ("arrived time", "before")
    assert (others.property, others.value) == ("", "(priority > 3 or age > 1h)")
    assert parse_qs(urlsplit(arrived.href).query) == {
        "where": ["label ~ 'Payment captured' and (priority > 3 or age > 1h)"],
        "sort": ["-age"],
    }


def test_the_last_condition_leaves_the_plain_page() -> None:
    (chip,) = chips_of("age >= 1h")
    assert (chip.operator, chip.href) == ("at least", "/queues/x")


def test_a_filter_that_cannot_be_read_can_be_removed() -> None:
    (chip,) = chips_of("label ~~ <b>")
    assert (chip.property, chip.value, chip.href) == ("", "label ~~ <b>", "/queues/x")


def test_no_filter_has_no_chips() -> None:
    assert chips_of(" ") == text_chip("label", "", "/") == []
