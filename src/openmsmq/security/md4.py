"""MD4 (RFC 1320): NTLM keeps passwords as its digest, and OpenSSL no longer offers it."""

from struct import Struct
from typing import Final

DIGEST_SIZE: Final = 16
BLOCK_SIZE: Final = 64
MASK: Final = 0xFFFFFFFF

_STATE: Final = Struct("<4I")
_BLOCK: Final = Struct("<16I")
_LENGTH: Final = Struct("<Q")
_INITIAL: Final = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
# Round by round: the order of the words, the four rotations and the constant that is added.
_ROUNDS: Final = (
    (tuple(range(16)), (3, 7, 11, 19), 0),
    ((0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), (3, 5, 9, 13), 0x5A827999),
    ((0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15), (3, 9, 11, 15), 0x6ED9EBA1),
)


def md4(data: bytes) -> bytes:
    """The MD4 digest of the data."""
    zeros = (55 - len(data)) % BLOCK_SIZE
    padded = data + b"\x80" + bytes(zeros) + _LENGTH.pack(8 * len(data) & 0xFFFFFFFFFFFFFFFF)
    state = _INITIAL
    for offset in range(0, len(padded), BLOCK_SIZE):
        state = _compress(state, _BLOCK.unpack_from(padded, offset))
    return _STATE.pack(*state)


def _compress(
    state: tuple[int, int, int, int], words: tuple[int, ...]
) -> tuple[int, int, int, int]:
    a, b, c, d = state
    for number, (order, shifts, constant) in enumerate(_ROUNDS):
        for step, word in enumerate(order):
            mixed = a + _mix(number, b, c, d) + words[word] + constant & MASK
            shift = shifts[step & 3]
            a, b, c, d = d, (mixed << shift | mixed >> 32 - shift) & MASK, b, c
    return (
        state[0] + a & MASK,
        state[1] + b & MASK,
        state[2] + c & MASK,
        state[3] + d & MASK,
    )


def _mix(number: int, x: int, y: int, z: int) -> int:
    """The functions F, G and H of the three rounds."""
    if number == 0:
        return x & y | ~x & MASK & z
    if number == 1:
        return x & y | x & z | y & z
    return x ^ y ^ z
