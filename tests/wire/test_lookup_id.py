"""Lookup identifiers and the digest of ranges."""

from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.lookup_id import SEQUENCE_BITS, SEQUENCE_MASK, digest_of_sequence, digest_text

SEQUENCES = st.integers(0, SEQUENCE_MASK)


def test_the_sequence_is_below_the_priority() -> None:
    lookup_id = 3 << SEQUENCE_BITS | 41
    assert (lookup_id >> SEQUENCE_BITS, lookup_id & SEQUENCE_MASK) == (3, 41)


def test_the_digest_of_known_sequences_does_not_change() -> None:
    # Offsets that Spark wrote down are compared with it.
    assert digest_text() == f"{0:016x}"
    assert digest_text(digest_of_sequence(1)) == "9e3779b9e17d05ac"
    assert digest_text(*map(digest_of_sequence, (1, 2, 3))) == digest_text(
        *map(digest_of_sequence, (3, 1, 2))
    )


@given(st.lists(SEQUENCES), st.lists(SEQUENCES))
def test_the_digests_of_parts_add_up(one: list[int], other: list[int]) -> None:
    parts = [sum(map(digest_of_sequence, part)) for part in (one, other)]
    assert digest_text(*parts) == digest_text(*map(digest_of_sequence, one + other))
    assert len(digest_text(*parts)) == 16
