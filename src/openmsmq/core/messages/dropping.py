"""Copies and acknowledgments that find no place: nothing vanishes without a word."""

from typing import Final

from openmsmq.core.events import MessageDropped
from openmsmq.core.model.message import Message
from openmsmq.core.model.queue import Queue
from openmsmq.core.queues.quota import journal_has_room
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.state import State

OVER_QUOTA: Final = "over the quota"


def note_drop(state: State, what: str, queue: str, packet: bytes, reason: str) -> None:
    """Something about a message goes nowhere; `packet` is that message."""
    identifier = packet[16:32] + packet[56:60]
    depends = state.outbox.changed()
    state.outbox.tell(
        MessageDropped(
            what=what, queue=queue, identifier=identifier, reason=reason, depends=depends
        )
    )


def journal_takes(state: State, journal: Queue, message: Message) -> bool:
    """Whether a journal takes a copy.

    [MS-MQDMPR] 3.1.1.12: over the quota the copy is discarded, the delivery stands.
    """
    if journal_has_room(state, journal, message.size):
        return True
    packet = packet_of(state, message)
    note_drop(state, "journal copy", journal.path, packet, OVER_QUOTA)
    return False
