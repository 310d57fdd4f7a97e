"""The settings of the file store."""

from dataclasses import dataclass
from typing import Final

from openmsmq.wire.errors import StoreError

# The folder of the files in the data directory of a queue manager.
STORE_DIRECTORY: Final = "store"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The use of the disk by the file store; sizes in bytes."""

    segment_size: int = 64 << 20
    snapshot_interval: int = 256 << 20
    """The minimum size of the log between two snapshots."""
    snapshot_operations: int = 2_000_000
    """The minimum number of operations between two snapshots."""
    reserve: int = 8 << 20
    """The space kept for deletes and state rows when new messages are refused."""
    compact_below: float = 0.5
    """A segment with a smaller live part is compacted."""
    step_size: int = 1 << 20
    """The size of reads and writes of one step."""
    verify_limit: int = 2 << 30
    """The part of the log before the snapshot that is checked at start."""

    def __post_init__(self) -> None:
        if not 4096 <= self.segment_size <= 1 << 31:
            raise StoreError(f"a segment size of {self.segment_size}; allowed are 4096 to 2 GiB")
        if not 0 <= self.reserve <= self.segment_size // 2:
            raise StoreError(f"a reserve of {self.reserve}; at most half a segment is allowed")
