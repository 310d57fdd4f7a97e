"""Transactional sequences of outgoing queues ([MS-MQQB] 3.1.1.3.1, 3.1.1.5).

A message gets its number when its transaction commits, in the batch that stores it. So no crash
can give its number to another message, and a message that is sent again keeps its number.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import TYPE_CHECKING, Final

from openmsmq.core.messages.positions import store_record
from openmsmq.core.model.message import TRANSACTIONAL
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.rows.queue_rows import queue_key, queue_number
from openmsmq.core.rows.tables import Table
from openmsmq.wire.message.user_message_patch import source_of

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State

_ROW: Final = Struct("<QI?")
# The format of version 0.1.0, without the mark.
_OLD_ROW: Final = Struct("<QI")
_LAST: Final = Struct("<Q")
# The row with the last sequence of all queues; the others have the number of a queue as key.
_LAST_KEY: Final = b""
_TIME_SHIFT: Final = 32


class OutgoingSequence:
    """The active sequence of one outgoing queue: TxSequenceID as a number, last number given.

    `opened` says that the destination has the first message, for transports on which no other
    message can open a stream; batch `opened_stored` contains that mark.
    """

    __slots__ = ("identifier", "last", "opened", "opened_stored")

    def __init__(self, identifier: int, last: int = 0, *, opened: bool = False) -> None:
        self.identifier = identifier
        self.last = last
        self.opened = opened
        self.opened_stored = 0


def number_messages(state: State, queue: Queue, messages: Iterable[Message]) -> None:
    """Assign the next numbers to messages of this queue manager, in their order.

    The caller stores the messages.
    """
    if queue.outgoing is not None:
        # [MS-MQQB] 3.1.7.1.3: forwarded messages keep the numbers of their source.
        number_own(
            state,
            queue,
            [
                message
                for message in messages
                if message.traits & TRANSACTIONAL and _is_own(state, message)
            ],
        )


def number_own(state: State, queue: Queue, messages: Iterable[Message]) -> None:
    """Assign the next numbers to transactional messages that this queue manager has stamped."""
    outgoing = queue.outgoing
    if outgoing is None:
        return
    sequence = outgoing.sequence
    for message in messages:
        if sequence is None:
            sequence = outgoing.sequence = _new_sequence(state)
        sequence.last += 1
        history = message.make_history()
        history.tx_sequence_id = sequence.identifier
        history.tx_sequence_number = sequence.last
    if sequence is not None:
        _store(state, queue, sequence)


def _store(state: State, queue: Queue, sequence: OutgoingSequence) -> None:
    row = _ROW.pack(sequence.identifier, sequence.last, sequence.opened)
    state.outbox.batch.set_row(Table.SEQUENCES, queue_key(queue.number), row)


def open_sequence(state: State, queue: Queue, sequence: OutgoingSequence) -> None:
    """The destination has the first message of a sequence: others may follow it."""
    sequence.opened = True
    sequence.opened_stored = state.outbox.number
    _store(state, queue, sequence)


def restart_sequence(state: State, queue: Queue) -> None:
    """The first message of a sequence was removed and no other was sent: begin a new one.

    The remaining messages get the numbers from 1 on, in their order.
    """
    end_sequence(state, queue)
    messages = [message for message in queue.lanes if message.transactional]
    number_messages(state, queue, messages)
    for message in messages:
        store_record(state, message)


def _is_own(state: State, message: Message) -> bool:
    return source_of(packet_of(state, message)) == state.identity


def _new_sequence(state: State) -> OutgoingSequence:
    _set_last(state, state.last_tx_sequence + 1)
    return OutgoingSequence(state.last_tx_sequence)


def _set_last(state: State, identifier: int) -> None:
    state.last_tx_sequence = identifier
    state.outbox.batch.set_row(Table.SEQUENCES, _LAST_KEY, _LAST.pack(identifier))


def end_sequence(state: State, queue: Queue) -> None:
    """Every message of the sequence was acknowledged; the next one starts another."""
    if queue.outgoing is not None and queue.outgoing.sequence is not None:
        queue.outgoing.sequence = None
        state.outbox.batch.delete_row(Table.SEQUENCES, queue_key(queue.number))


def recover_sequences(state: State, rows: dict[bytes, bytes], *, restored: bool) -> None:
    """Restore the sequences from the store; a restored copy begins new ones."""
    last = rows.get(_LAST_KEY)
    if last is not None:
        state.last_tx_sequence = _LAST.unpack(last)[0]
    if last is None or restored:
        # [MS-MQQB] note 35: the time of the installation or of the last restore. It must be greater
        # than that of the original, which may have begun sequences since the backup. The row goes
        # into the batch that clears the mark "restored": a later start must not use them again.
        later = (state.last_tx_sequence >> _TIME_SHIFT) + 1
        _set_last(state, max(int(state.utc), later) << _TIME_SHIFT)
    for key, value in rows.items():
        if key == _LAST_KEY:
            continue
        if restored:
            state.outbox.batch.delete_row(Table.SEQUENCES, key)
            continue
        outgoing = state.queues[queue_number(key)].outgoing
        if outgoing is not None:
            outgoing.sequence = _parse(value)


def _parse(row: bytes) -> OutgoingSequence:
    if len(row) == _OLD_ROW.size:
        return OutgoingSequence(*_OLD_ROW.unpack(row))
    identifier, last, opened = _ROW.unpack(row)
    return OutgoingSequence(identifier, last, opened=opened)


def renumber_restored(state: State) -> None:
    """Put messages of a restored copy into new sequences, in their order."""
    for queue in state.outgoing.values():
        messages = [message for message in queue.lanes if message.transactional]
        number_messages(state, queue, messages)
        for message in messages:
            store_record(state, message)
