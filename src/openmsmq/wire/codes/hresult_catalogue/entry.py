"""The shape of one entry of the catalogue."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a result code means, where it usually comes from, and what helps."""

    text: str
    cause: str
    remedy: str
