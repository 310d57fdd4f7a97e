"""Sequence numbers wrap at 32 bits."""

from hypothesis import given
from hypothesis import strategies as st
from tests.wire.pgm.strategies import NUMBERS

from openmsmq.wire.pgm import distance, following


def test_the_number_after_the_greatest_is_zero() -> None:
    assert following(0xFFFFFFFF) == 0
    assert following(0, -1) == 0xFFFFFFFF
    assert distance(0xFFFFFFFF, 0) == 1
    assert distance(0, 0xFFFFFFFF) == -1
    assert distance(0, 0x80000000) == -0x80000000


@given(NUMBERS, st.integers(-0x80000000, 0x7FFFFFFF))
def test_the_distance_counts_the_steps(start: int, steps: int) -> None:
    assert distance(start, following(start, steps)) == steps
