"""The settings of the file store."""

from dataclasses import dataclass
from typing import Final

from openmsmq.wire.errors import StoreError

# Where the files are in the data directory of a queue manager.
STORE_DIRECTORY: Final = "store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the file store uses its disk; sizes in bytes."""

    segment_size: int = 64 << 20
    snapshot_interval: int = 256 << 20
    """How much log may follow a snapshot before the next one, at least."""
    snapshot_operations: int = 2_000_000
    """How many operations may follow a snapshot before the next one, at least."""
    reserve: int = 8 << 20
    """What new messages leave free for deletes and state rows."""
    compact_below: float = 0.5
    """A segment less full than this is compacted."""
    step_size: int = 1 << 20
    """How much one step reads or writes."""
    verify_limit: int = 2 << 30
    """How much of the log before the snapshot is checked at start."""

    def __post_init__(self) -> None:
        if not 4096 <= self.segment_size <= 1 << 31:
            raise StoreError(f"a segment size of {self.segment_size}; allowed are 4096 to 2 GiB")
        if not 0 <= self.reserve <= self.segment_size // 2:
            raise StoreError(f"a reserve of {self.reserve}; at most half a segment is allowed")
