"""Staged batches: packets that are published whole, once per producer and batch."""

from __future__ import annotations

from struct import Struct
from typing import Final

_BATCH: Final = Struct("<q")


class Stages:
    """Packets that wait for their batch to be committed."""


def parse_producer(key: bytes, value: bytes) -> tuple[str, int]:
    """The last batch that a producer committed."""
    return key.decode(), _BATCH.unpack(value)[0]
