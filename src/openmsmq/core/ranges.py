"""Ranges of messages by arrival sequence, for pipelines that read first and remove later."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final

_LEASE_KEY: Final = Struct(">I")
_LEASE: Final = Struct("<q")


@dataclass(slots=True)
class LeaseRow:
    """Who consumes a queue through a subqueue, with the token that shuts out older ones."""

    queue: int
    consumer: str
    token: int


@dataclass(frozen=True, slots=True)
class Pin:
    """A planned range that does not expire for a while."""

    base: int
    upto: int
    until: float


def parse_lease(key: bytes, value: bytes) -> LeaseRow:
    queue: int = _LEASE_KEY.unpack_from(key)[0]
    return LeaseRow(queue, key[_LEASE_KEY.size :].decode(), _LEASE.unpack(value)[0])
