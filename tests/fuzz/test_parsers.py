"""Whatever the bytes are: a parser raises MalformedPacket or nothing."""

from collections.abc import Iterator
from enum import Flag

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzz.mutation import MAX_SIZE, mutate
from tests.fuzz.seeds import CORPUS, load, seeds
from tests.fuzz.targets import PARSERS, TARGETS, Target

from openmsmq.wire.errors import MalformedPacket

KEPT = load()
MUTATIONS = 3000


@settings(max_examples=300)
@given(data=st.binary(max_size=400))
def test_any_bytes(data: bytes) -> None:
    for target in TARGETS:
        target(data)


@settings(max_examples=300)
@given(data=st.sampled_from(KEPT), cuts=st.lists(st.integers(0, 2500), max_size=2))
def test_pieces_of_valid_packets(data: bytes, cuts: list[int]) -> None:
    start, stop = sorted([*cuts, 0, len(data)][:2])
    for target in TARGETS:
        target(data[start:stop])


@settings(max_examples=300)
@given(data=st.data())
def test_changed_bytes_of_valid_packets(data: st.DataObject) -> None:
    raw = bytearray(data.draw(st.sampled_from(KEPT)))
    positions = st.integers(0, len(raw) - 1)
    for position, value in data.draw(
        st.lists(st.tuples(positions, st.integers(0, 255)), min_size=1, max_size=4)
    ):
        raw[position] = value
    for target in TARGETS:
        target(bytes(raw))


def test_mutated_packets() -> None:
    accepted = 0
    for index in range(MUTATIONS):
        data = mutate(20, index, KEPT)
        accepted += sum(target(data) for target in TARGETS)
    # Else the mutations would test nothing but the first check of each parser.
    assert accepted > 3 * MUTATIONS


def test_mutations_can_be_repeated() -> None:
    first = [mutate(7, index, KEPT) for index in range(100)]
    assert first == [mutate(7, index, KEPT) for index in range(100)]
    assert first != [mutate(8, index, KEPT) for index in range(100)]
    assert len(set(first)) > 90
    assert max(map(len, first)) <= MAX_SIZE


@pytest.mark.parametrize("number", range(len(KEPT)))
def test_every_cut_of_a_kept_packet(number: int) -> None:
    data = KEPT[number]
    interested = [target for target in TARGETS if target(data)]
    step = 1 + len(data) // 300
    for size in range(0, len(data), step):
        for target in interested:
            target(data[:size])


def flag_classes(parent: type[Flag]) -> Iterator[type[Flag]]:
    for child in parent.__subclasses__():
        if child.__module__.startswith("openmsmq.wire."):
            yield child
        yield from flag_classes(child)


def test_flags_of_packets_do_not_pile_up_in_enums() -> None:
    """An enum of flags keeps every combination that was ever made from a number."""
    message = dict(seeds())["message-full"]
    descriptor = dict(seeds())["security-descriptor"]
    before = {child: len(child._value2member_map_) for child in flag_classes(Flag)}
    for bits in range(500):
        number = (bits * 0x00830083).to_bytes(4, "little")
        for data in (
            message[16:60] + number + message[64:],
            message[:60] + number + message[64:],
            message[:2] + number[:2] + message[4:],
            descriptor[:2] + number[:1] + bytes([number[1] | 0x80]) + descriptor[4:],
        ):
            for target in TARGETS:
                target(data)
    grown = {child.__name__: len(child._value2member_map_) - size for child, size in before.items()}
    assert {name: size for name, size in grown.items() if size > 64} == {}


def test_the_kept_corpus_is_what_the_seeds_make() -> None:
    assert {path.stem: path.read_bytes() for path in CORPUS.iterdir()} == dict(seeds())


def test_every_parser_accepts_something_of_the_kept_corpus() -> None:
    refusing = [target.name for target in TARGETS if not any(map(target, KEPT))]
    assert refusing == []


def test_every_structure_has_its_own_target() -> None:
    assert len({target.name for target in TARGETS}) == len(TARGETS)
    assert len(PARSERS) == 43


def test_other_errors_are_not_hidden() -> None:
    def broken(data: bytes) -> None:
        raise IndexError(len(data))

    with pytest.raises(IndexError):
        Target("broken", broken)(b"")

    def refusing(data: bytes) -> None:
        raise MalformedPacket("field", 0, "reason")

    assert not Target("refusing", refusing)(b"")
