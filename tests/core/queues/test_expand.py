"""Expand Format Name ([MS-MQDMPR] 3.1.7.3.8)."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from tests.core.harness import refused

from openmsmq.core.queues.opening import expand
from openmsmq.wire.names.format_name import parse_format_name

SPEC = pytest.mark.spec
GUIDS = [f"0000000{n}-0000-0000-0000-000000000000" for n in range(8)]
A, B, C = (f"PUBLIC={guid}" for guid in GUIDS[1:4])
ONE, TWO, SELF = (f"DL={guid}" for guid in GUIDS[5:8])


class Lists:
    """Distribution lists by GUID."""

    def __init__(self, **lists: Sequence[str]) -> None:
        self.lists = {UUID(GUIDS[int(name[1:])]): members for name, members in lists.items()}

    def members(self, guid: UUID) -> Sequence[str] | None:
        return self.lists.get(guid)


def expanded(name: str, lists: Lists | None = None) -> str:
    return str(expand(parse_format_name(name), (lists or Lists()).members))


@SPEC("MQDMPR-3.1.7.3.8-01")
@pytest.mark.parametrize(
    "name", [A, r"DIRECT=OS:host\private$\Queue", f"MACHINE={GUIDS[1]};DEADLETTER"]
)
def test_a_single_name_stays_as_it_is(name: str) -> None:
    assert expanded(name) == name


@SPEC("MQDMPR-3.1.7.3.8-02")
def test_lists_in_lists_and_among_other_names_are_resolved() -> None:
    lists = Lists(_5=[B, TWO], _6=[C])
    assert expanded(f"{A},{ONE}", lists) == f"{A},{B},{C}"


@SPEC("MQDMPR-3.1.7.3.8-03")
def test_a_list_that_nobody_knows_fails() -> None:
    for name in (ONE, f"{A},{ONE}"):
        with refused("MQ_ERROR_ILLEGAL_FORMATNAME"):
            expanded(name, Lists(_6=[A]))


def test_the_domain_of_a_list_is_only_a_place_to_look() -> None:
    assert expanded(f"{ONE}@example.com", Lists(_5=[A])) == A


@SPEC("MQDMPR-3.1.7.3.8-04")
def test_the_names_are_sorted_and_each_is_there_once() -> None:
    direct, upper = r"DIRECT=OS:host\private$\q", r"DIRECT=OS:HOST\private$\Q"
    assert expanded(f"{C},{upper},{A},{direct},{A}") == f"{upper},{A},{C}"


@SPEC("MQDMPR-3.1.7.3.8-05")
def test_one_name_that_is_left_is_a_single_name() -> None:
    assert expanded(f"{A},{A}") == A
    assert expanded(ONE, Lists(_5=[A])) == A
    assert expanded(ONE, Lists(_5=[A, B])) == f"{A},{B}"


@SPEC("MQDMPR-3.1.7.3.8-06")
def test_a_list_that_contains_itself_ends() -> None:
    assert expanded(SELF, Lists(_7=[A, SELF, ONE], _5=[SELF, B])) == f"{A},{B}"


def test_an_empty_list_is_refused() -> None:
    with refused("MQ_ERROR_ILLEGAL_FORMATNAME"):
        expanded(SELF, Lists(_7=[SELF]))
