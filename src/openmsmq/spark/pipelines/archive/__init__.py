"""Archive queues: messages into Parquet, Delta or Iceberg, once each."""

from .archiving import archive
from .store import read_archive

__all__ = ["archive", "read_archive"]
