"""Mutated packets: input number `index` of a seed is always the same bytes."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

# Where parsers count, wrap or compare; the size of the packet and numbers near it are added.
NUMBERS: Final = (
    *(0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 20, 0x24, 0x7F, 0x80, 0xFA, 0xFB, 0xFE, 0xFF),
    *(0x100, 0x7FFE, 0x7FFF, 0x8000, 0xFFFC, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x3FFFFFFF),
    *(0x40000000, 0x40000001, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0x80000005),
    *(0xFFFFFFF0, 0xFFFFFFFC, 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF),
)
MAX_CHANGES: Final = 6
MAX_SIZE: Final = 0x10000
# One input in so many is blown up to a large one.
LARGE_EVERY: Final = 500
LIOR: Final = b"LIOR"

Change = Callable[[Random, bytearray, Sequence[bytes]], None]


def _flip_bit(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set_byte(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    data[random.randrange(len(data))] = random.randrange(256)


def _set_number(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    size = random.choice((1, 2, 4, 4))
    near = len(data) + random.randrange(-24, 8)
    value = random.choice((*NUMBERS, near, near // 2)) & (1 << 8 * size) - 1
    at = random.randrange(len(data)) & -random.choice((1, 2, 4))
    data[at : at + size] = value.to_bytes(size, "little")


def _add_number(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = random.randrange(len(data)) & ~1
    size = min(random.choice((2, 4)), len(data) - at)
    value = int.from_bytes(data[at : at + size], "little") + random.randrange(-16, 17)
    data[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")


def _cut(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    del data[random.randrange(len(data)) :]


def _remove(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = random.randrange(len(data))
    del data[at : at + random.randrange(1, 17)]


def _insert(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = random.randbytes(random.randrange(1, 17))


def _repeat(random: Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = random.randrange(len(data))
    piece = data[at : at + random.randrange(1, 33)]
    data[at:at] = piece * random.randrange(1, 5)


def _splice(random: Random, data: bytearray, corpus: Sequence[bytes]) -> None:
    other = random.choice(corpus)
    start = random.randrange(len(other))
    at = random.randrange(len(data) + 1)
    data[at:] = other[start:] if random.random() < 0.5 else other[start:] + data[at:]


CHANGES: Final[tuple[Change, ...]] = (
    _flip_bit,
    _set_byte,
    _set_number,
    _set_number,
    _set_number,
    _add_number,
    _cut,
    _remove,
    _insert,
    _repeat,
    _splice,
)


def mutate(seed: int, index: int, corpus: Sequence[bytes]) -> bytes:
    """Input number `index` of `seed`."""
    random = Random(seed << 64 | index)
    data = bytearray(random.choice(corpus))
    for _ in range(random.randint(1, MAX_CHANGES)):
        if not data:
            break
        random.choice(CHANGES)(random, data, corpus)
    if data and random.randrange(LARGE_EVERY) == 0:
        _enlarge(random, data)
    # Most would end at a wrong PacketSize: two in three get the right one.
    if data[4:8] == LIOR and random.random() < 0.67:
        data[8:12] = len(data).to_bytes(4, "little")
    return bytes(data[:MAX_SIZE])


def _enlarge(random: Random, data: bytearray) -> None:
    at = random.randrange(len(data))
    piece = bytes(data[at : at + random.choice((1, 2, 4, 6, 12, 16, 20, 64))])
    data[at:at] = piece * (random.randrange(MAX_SIZE) // len(piece))
