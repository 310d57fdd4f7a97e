"""The batch and the query of a task.

Spark gives a sink no batch id before the commit, but stores it in the local properties of each
task under its own names, which only this module reads.
"""

from typing import Final, NamedTuple

from pyspark import TaskContext

QUERY_ID: Final = "sql.streaming.queryId"
BATCH_ID: Final = "streaming.sql.batchId"


class StreamingBatch(NamedTuple):
    """A batch of a streaming query; the id of a query outlives its restarts."""

    query_id: str
    batch_id: int


def streaming_batch() -> StreamingBatch:
    """The batch that this task belongs to.

    Raises:
        RuntimeError: this is no task of a streaming query, or Spark has changed the names.
    """
    context = TaskContext.get()
    query_id = context.getLocalProperty(QUERY_ID) if context else None
    batch_id = context.getLocalProperty(BATCH_ID) if context else None
    if not query_id or batch_id is None:
        raise RuntimeError(
            f"this version of Spark does not tell its tasks {QUERY_ID} and {BATCH_ID}; "
            "without them a batch cannot be written once"
        )
    return StreamingBatch(query_id, int(batch_id))
