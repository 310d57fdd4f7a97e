"""Matching: whole blocks are scanned before any message is parsed.

A condition with a text searches its bytes in a whole block first, and parses only
the messages in which they occur. The terms of an `and` or `or` are compared cheapest first.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from fnmatch import translate
from operator import eq, ge, gt, le, lt
from typing import Any, Final, NamedTuple

from openmsmq.client.backend import Block
from openmsmq.client.received_message import NO_COUNTERS, ReceivedMessage

from .conditions import And, Comparison, Condition, Not
from .properties import PROPERTIES, Found, Kind

_ORDER: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": eq,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}
# Letters that are the lower case of non-ASCII letters, too.
_SHARED: Final = "ki"
_ASCII_RUN: Final = re.compile(rf"(?:(?![{_SHARED}])[ -~])+")
_TEXT_IN_PACKET: Final = ("label", "body", "extension")

Test = Callable[[Found, float], bool]


class _Compiled(NamedTuple):
    cost: int
    test: Test


class Needle(NamedTuple):
    """Byte strings of which at least one is in every matching packet; `lower` in lower case."""

    forms: tuple[bytes, ...]
    lower: bool


class Matcher:
    """Finds matching messages; None matches all."""

    def __init__(self, condition: Condition | None) -> None:
        self._test: Test | None = None if condition is None else _compile(condition).test
        self._needle = None if condition is None else _needle(condition)

    def holds(self, queue: str, message: ReceivedMessage, now: float) -> bool:
        """Whether the condition matches a message."""
        return self._test is None or self._test(Found(queue, message), now)

    def select(
        self, queue: str, block: Block, now: float, machine: bytes = b""
    ) -> Iterator[ReceivedMessage]:
        """The messages of a block that match, in their order.

        Args:
            queue: the queue of the messages.
            block: from `Ranges.peek`.
            now: the time of day in seconds since 1970; the reference of ages.
            machine: GUID of the queue manager, as in packets.
        """
        lookup_ids, times = block.lookup_ids, block.arrived_times
        counters = {index: tuple(rest) for index, *rest in block.counters}
        for index, start, end in self._candidates(block):
            message = ReceivedMessage(
                block.blob[start:end],
                lookup_ids[index],
                times[index],
                counters.get(index, NO_COUNTERS),  # type: ignore[arg-type]  # three numbers
                machine,
            )
            if self.holds(queue, message, now):
                yield message

    def _candidates(self, block: Block) -> Iterator[tuple[int, int, int]]:
        """Index, start and end of the packets that may match."""
        ends = block.ends
        if self._needle is None:
            start = 0
            for index, end in enumerate(ends):
                yield index, start, end
                start = end
            return
        blob = block.blob.lower() if self._needle.lower else block.blob
        found: set[int] = set()
        for form in self._needle.forms:
            at = blob.find(form)
            while at >= 0:
                index = bisect_right(ends, at)
                found.add(index)
                at = blob.find(form, ends[index])
        for index in sorted(found):
            yield index, ends[index - 1] if index else 0, ends[index]


def _compile(condition: Condition) -> _Compiled:
    if isinstance(condition, Comparison):
        return _compile_comparison(condition)
    if isinstance(condition, Not):
        cost, test = _compile(condition.term)
        return _Compiled(cost, lambda found, now: not test(found, now))
    terms = sorted(map(_compile, condition.terms), key=lambda term: term.cost)
    tests = [term.test for term in terms]
    cost = terms[-1].cost
    if isinstance(condition, And):
        return _Compiled(cost, lambda found, now: all(test(found, now) for test in tests))
    return _Compiled(cost, lambda found, now: any(test(found, now) for test in tests))


def _compile_comparison(comparison: Comparison) -> _Compiled:
    kind, cost, read = PROPERTIES[comparison.property]
    operator, value = comparison.operator, comparison.value
    if operator == "!=":
        same = _compile_comparison(Comparison(comparison.property, "=", value)).test
        return _Compiled(cost, lambda found, now: not same(found, now))
    if value is None:
        return _Compiled(cost, lambda found, now: read(found, now) is None)
    if kind is Kind.BYTES:
        holds = _bytes_test(operator, str(value))
    elif operator in _ORDER:
        compare = _ORDER[operator]

        def holds(own: Any) -> bool:
            return compare(own, value)

    else:
        holds = _text_test(operator, str(value))

    def test(found: Found, now: float) -> bool:
        own = read(found, now)
        return own is not None and holds(own)

    return _Compiled(cost, test)


def _text_test(operator: str, value: str) -> Callable[[Any], bool]:
    if operator == "~":
        folded = value.lower()
        return lambda own: folded in own.lower()
    if operator == "contains":
        return lambda own: value in own
    matches = re.compile(translate(value)).match
    return lambda own: matches(own) is not None


def _bytes_test(operator: str, value: str) -> Callable[[Any], bool]:
    """Text in bytes, as UTF-8 or UTF-16."""
    forms = (_utf8(value), _utf16(value))
    if operator == "=":
        return lambda own: own in forms
    if operator == "contains":
        return lambda own: any(form in own for form in forms)
    folded = value.lower()

    def holds(own: bytes) -> bool:
        return (
            folded in own.decode("utf-8", "replace").lower()
            or folded in own.decode("utf-16-le", "replace").lower()
            or folded in own[1:].decode("utf-16-le", "replace").lower()
        )

    return holds


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def _needle(condition: Condition) -> Needle | None:
    """The byte strings required in a matching packet; None if the filter requires none."""
    if isinstance(condition, Comparison):
        if condition.property in _TEXT_IN_PACKET and isinstance(condition.value, str):
            return _needle_of(condition.operator, condition.value, condition.property)
        return None
    if isinstance(condition, Not):
        return None
    needles = [_needle(term) for term in condition.terms]
    known = [needle for needle in needles if needle is not None]
    if isinstance(condition, And):
        # The longest text is the rarest.
        return max(known, key=lambda needle: len(needle.forms[-1]), default=None)
    if len(known) < len(needles) or len({needle.lower for needle in known}) > 1:
        return None
    forms = dict.fromkeys(form for needle in known for form in needle.forms)
    return Needle(tuple(forms), known[0].lower)


def _needle_of(operator: str, value: str, name: str) -> Needle | None:
    if operator in ("contains", "="):
        if not value:
            return None
        forms = (_utf16(value),) if name == "label" else (_utf8(value), _utf16(value))
        return Needle(forms, lower=False)
    if operator != "~":
        return None
    run = max(_ASCII_RUN.findall(value.lower()), key=len, default="")
    if not run:
        return None
    forms = (_utf16(run),) if name == "label" else (_utf8(run), _utf16(run))
    return Needle(forms, lower=True)
