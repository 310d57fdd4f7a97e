"""The checkpoint of a streaming query: its id, offsets and commits."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openmsmq.spark.pipelines.archive.manifest import Loss, Manifest, Range, created_again
from openmsmq.spark.readers.offsets import QueueOffset, first_after, parse_offset


def query_id(checkpoint: Path) -> str | None:
    """The identifier of the query, which outlives restarts; None before its first start."""
    path = checkpoint / "metadata"
    return str(json.loads(path.read_bytes())["id"]) if path.exists() else None


def committed_batches(checkpoint: Path) -> list[int]:
    """Numbers of the batches that are committed, as far as Spark still knows them."""
    return sorted(int(path.name) for path in (checkpoint / "commits").glob("[0-9]*"))


def lost_batches(
    checkpoint: Path, manifest: Manifest, committed: Sequence[int] | None = None
) -> list[int]:
    """Batches that Spark has committed and the manifest does not have: its end was cut off.

    Args:
        checkpoint: that of the query.
        manifest: as it was read.
        committed: the batches that were committed before the manifest was read; needed where
            somebody may add to the archive now.
    """
    query = query_id(checkpoint)
    if query is None:
        return []
    known = committed_batches(checkpoint) if committed is None else committed
    return [batch for batch in known if not manifest.has_batch(query, batch)]


def planned_ranges(checkpoint: Path, batch: int) -> list[Range]:
    """What a batch has of each queue; Spark writes it down before the batch runs."""
    end = _offset(checkpoint, batch)
    start = _offset(checkpoint, batch - 1) if batch else {}
    ranges: list[Range] = []
    for queue, until in end.items():
        after = first_after(start.get(queue), until)
        if until.seq > after:
            ranges.append(Range(queue, until.inc, after, until.seq, until.n, until.h))
    return ranges


def accepted_losses(checkpoint: Path, batch: int) -> list[Loss]:
    """Queues that were gone or new again when a batch was planned, and the query went on."""
    start, end = (_offset(checkpoint, batch - 1) if batch else {}), _offset(checkpoint, batch)
    losses: list[Loss] = []
    for queue, before in start.items():
        until = end.get(queue, before)
        if before.gone:
            continue
        if until.inc != before.inc:
            losses.append(Loss(queue, before.inc, before.seq, created_again(queue, before.seq)))
        elif until.gone:
            text = (
                f"{queue}: the queue was deleted after sequence {before.seq}; "
                "what was in it then is unknown"
            )
            losses.append(Loss(queue, before.inc, before.seq, text))
    return losses


def _offset(checkpoint: Path, batch: int) -> dict[str, QueueOffset]:
    # A version, what Spark knows of the batch, and one line per source.
    lines = (checkpoint / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()
    document: dict[str, Any] = json.loads(lines[2]) if lines[2] != "-" else {"v": 1}
    return parse_offset(document)
