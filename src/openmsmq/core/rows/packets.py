"""Packets of messages, from memory or read back from storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openmsmq.core.model.message import RECOVERABLE, Message
from openmsmq.core.transfer.incoming.claims import clear_authentication
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openmsmq.core.state import State


def packets_of(state: State, messages: Sequence[Message]) -> list[bytes]:
    """The packets of these messages, in their order.

    A dead letter has its reason as its message class.
    """
    packets = [message.packet for message in messages]
    if None in packets:
        _read_back(state, messages, packets)
    present = [packet for packet in packets if packet is not None]
    storied = [index for index, message in enumerate(messages) if message.history is not None]
    for index in storied:
        history = messages[index].history
        if history is not None and history.message_class:
            present[index] = patch(UserMessage(present[index]), message_class=history.message_class)
    return present


def packet_of(state: State, message: Message) -> bytes:
    """The packet of one message."""
    return packets_of(state, (message,))[0]


def _read_back(state: State, messages: Sequence[Message], packets: list[bytes | None]) -> None:
    stored = [
        at
        for at, message in enumerate(messages)
        if packets[at] is None and message.traits & RECOVERABLE
    ]
    if len(stored) == len(messages):
        packets[:] = _read_stored(state, [message.key for message in messages])
        return
    if stored:
        read = _read_stored(state, [messages[at].key for at in stored])
        for at, packet in zip(stored, read, strict=True):
            packets[at] = packet
    spilled = [at for at, packet in enumerate(packets) if packet is None]
    if spilled and state.scratch is not None:
        handles = [state.scratch_handles[messages[at].key] for at in spilled]
        for at, packet in zip(spilled, state.scratch.get_many(handles), strict=True):
            packets[at] = packet


def _read_stored(state: State, keys: list[int]) -> list[bytes]:
    packets = state.packets.read_many(keys)
    if state.unchecked:
        for at, key in enumerate(keys):
            if key <= state.unchecked:
                packets[at] = clear_authentication(packets[at])
    return packets


def forget_packet(state: State, message: Message) -> None:
    """Account for a removed message: its packet no longer counts, wherever it is."""
    if message.packet is not None:
        state.memory -= message.size
    elif not message.traits & RECOVERABLE and state.scratch is not None:
        state.scratch.free(state.scratch_handles.pop(message.key))
