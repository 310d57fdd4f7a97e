"""What a queue manager has counted about other queue managers."""

from openmsmq.core.queue_manager import QueueManager


def peer_counts(manager: QueueManager) -> dict[str, int]:
    """Rejected and ignored messages, ended sessions and refused connections, by reason."""
    counters = manager.counters
    found: dict[str, int] = {}
    for counter in (
        counters.rejected_messages,
        counters.ignored_messages,
        counters.closed_sessions,
        counters.refused_connections,
    ):
        for labels, count in counter.values.items():
            # Behind the transport or protocol comes the reason.
            reason = labels[-1] if len(labels) > 1 else "connection over the limit"
            found[reason] = found.get(reason, 0) + count
    return found
