"""The last batch of a producer of staged batches."""

from typing import NamedTuple


class LastBatch(NamedTuple):
    """The number of the batch that a producer published last; -1 for none.

    Its messages have arrival sequences from `first` to `last`; in their order and without gaps
    if all of them went to one queue.
    """

    batch: int
    published: float
    first: int
    last: int
