"""The running totals of a queue manager against the sums over its queues."""

from openmsmq.core.model.message import is_awaiting_final_ack
from openmsmq.core.model.queue import JOURNALS, QueueRole
from openmsmq.core.state import State


def check_totals(state: State) -> None:
    """Every total is what adding up the queues gives."""
    queues = list(state.queues.values())
    totals = state.totals
    assert totals.queues == sum(queue.role is QueueRole.USER for queue in queues)
    queues += state.deleted.values()
    assert totals.messages == sum(queue.count for queue in queues)
    assert totals.bytes == sum(queue.total_bytes for queue in queues)
    assert totals.outgoing_messages == sum(queue.count for queue in state.outgoing.values())
    assert totals.awaiting_final_ack == sum(
        is_awaiting_final_ack(message)
        for queue in state.outgoing.values()
        for message in queue.locked.values()
    )
    journals = [queue for queue in queues if queue.role in JOURNALS]
    assert totals.journal_bytes == sum(queue.total_bytes for queue in journals)
