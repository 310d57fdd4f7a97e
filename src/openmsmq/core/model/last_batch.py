"""What a queue manager remembers of a producer of staged batches."""

from typing import NamedTuple


class LastBatch(NamedTuple):
    """The batch that a producer published last; -1 without one.

    Its messages have arrival sequences from `first` up to `last`; in their order and without gaps
    if all of them went to one queue.
    """

    batch: int
    published: float
    first: int
    last: int
