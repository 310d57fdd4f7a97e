"""The key of a replay: its source, target and options; a key sends no message twice."""

import hashlib
import json
import os
from pathlib import Path

from openmsmq.client.address import split_host
from openmsmq.net.local.paths import default_socket
from openmsmq.spark.pipelines.sources import parse_queue

from .filter import ReplayFilter


def default_key(
    source: str, to: str | None, only: ReplayFilter, correlation: str, manager: str
) -> str:
    """The key of a replay that has no other.

    Args:
        manager: the GUID of the queue manager that gets the messages, or where it is.
    """
    document = json.dumps(
        [manager, _full_name(source), to, only.to_dict(), correlation], sort_keys=True
    )
    return hashlib.sha256(document.encode()).hexdigest()[:16]


def full_endpoint(endpoint: str | None) -> str:
    """Where a queue manager is, the same from every directory."""
    if endpoint is not None and split_host(endpoint) is not None:
        return endpoint
    return str((Path(endpoint) if endpoint else default_socket()).absolute())


def default_state(key: str) -> Path:
    """The folder of the user that remembers what was sent under a key."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "openmsmq" / "replay" / key


def _full_name(source: str) -> list[str | None]:
    """What a source is, the same from every directory."""
    if Path(source).is_dir():
        return [str(Path(source).resolve())]
    queue = parse_queue(source)
    # Without an endpoint of its own it is at the queue manager that gets the messages.
    return [queue.queue, queue.kind, full_endpoint(queue.endpoint) if queue.endpoint else None]
