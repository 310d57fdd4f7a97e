"""SRMP survives every storm, and each of these mutations is noticed in one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from tests.simulation.srmp_storm import Storm

from openmsmq.core.rows import recovery
from openmsmq.core.transfer.incoming.answered_reception import AnsweredReception
from openmsmq.core.transfer.incoming.incoming import Incoming
from openmsmq.core.transfer.incoming.received import ArrivingStreams, StreamProgress
from openmsmq.core.transfer.incoming.stream_order import ORDER_RULES, StreamPosition
from openmsmq.core.transfer.incoming.streams import IncomingTransactionalTransferInfo
from openmsmq.core.transfer.outgoing.stream import OutgoingStream
from openmsmq.core.transfer.outgoing.streams import OutgoingStreams
from openmsmq.core.transfer.transports import Transport
from openmsmq.protocol.srmp.outgoing_requests import OutgoingRequests
from openmsmq.protocol.srmp.sending import Sender
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import patch as patch_packet

SEEDS = 100
# How many storms a mutation may survive.
TRIALS = 50
Patch = pytest.MonkeyPatch
Info = IncomingTransactionalTransferInfo


@pytest.mark.parametrize("seed", range(SEEDS))
def test_messages_arrive_once_and_in_order(seed: int) -> None:
    Storm(seed).run()


def _change_received(patch: Patch, name: str) -> None:
    def receive(self: AnsweredReception, *arguments: Any) -> Any:
        received = original(self, *arguments)
        setattr(received, name, 0)
        return received

    original = AnsweredReception.receive
    patch.setattr(AnsweredReception, "receive", receive)


def answer_before_the_flush(patch: Patch) -> None:
    _change_received(patch, "depends")


def acknowledge_before_the_flush(patch: Patch) -> None:
    def send(self: Incoming, progress: StreamProgress) -> Any:
        receipt = original(self, progress)
        if receipt is not None:
            receipt.stored = 0
        return receipt

    # A receipt is itself a message that waits for the disk.
    _change_received(patch, "progress_depends")
    original = Incoming.send_stream_receipt
    patch.setattr(Incoming, "send_stream_receipt", send)


def forget_streams_at_a_restart(patch: Patch) -> None:
    patch.setattr(recovery, "recover_streams", lambda *_: None)


def forget_receipt_urls_at_a_restart(patch: Patch) -> None:
    def parse(_cls: type[Info], key: bytes, value: bytes) -> Info:
        stream = original(key, value)
        stream.receipts_to = ""
        return stream

    original = Info.parse
    patch.setattr(Info, "parse", classmethod(parse))


def give_a_new_number_at_a_resend(patch: Patch) -> None:
    def order(self: OutgoingStream, message: Any, history: Any, *rest: Any) -> bytes:
        sequence = self.outgoing.sequence
        if message.key in sent and sequence is not None:
            sequence.last += 1
            history.tx_sequence_number = sequence.last
        sent.add(message.key)
        return original(self, message, history, *rest)

    sent: set[int] = set()
    original = OutgoingStream._order
    patch.setattr(OutgoingStream, "_order", order)


def give_a_new_identifier_at_a_resend(patch: Patch) -> None:
    def write(self: OutgoingRequests, transfer: Any, packet: bytes) -> Any:
        identifier = next(identifiers)
        return original(self, transfer, patch_packet(UserMessage(packet), message_id=identifier))

    identifiers = count(1_000_000)
    original = OutgoingRequests.write
    patch.setattr(OutgoingRequests, "write", write)


def _change_rule(patch: Patch, rule: Callable[[Info, StreamPosition], bool]) -> None:
    patch.setitem(ORDER_RULES, Transport.HTTP, rule)


def open_old_streams_again(patch: Patch) -> None:
    def follows(stream: Info, position: StreamPosition) -> bool:
        if position.sequence != stream.sequence_identifier:
            return position.starts
        return original(stream, position)

    original = ORDER_RULES[Transport.HTTP]
    _change_rule(patch, follows)


def ignore_previous(patch: Patch) -> None:
    def follows(stream: Info, position: StreamPosition) -> bool:
        if position.sequence == stream.sequence_identifier:
            return position.number > stream.sequence_number
        return original(stream, position)

    original = ORDER_RULES[Transport.HTTP]
    _change_rule(patch, follows)


def acknowledge_no_duplicate(patch: Patch) -> None:
    patch.setattr(ArrivingStreams, "out_of_order", lambda *_: None)


def acknowledge_gapless_runs_only(patch: Patch) -> None:
    def accept(self: Info, position: StreamPosition, *rest: Any) -> None:
        accepted.setdefault((self.format_name, position.sequence), set()).add(position.number)
        original_accept(self, position, *rest)

    def send(self: Incoming, progress: StreamProgress) -> Any:
        numbers = accepted.get((progress.stream.format_name, progress.sequence), set())
        number = 0
        while number + 1 in numbers:
            number += 1
        return original_send(self, progress._replace(number=number)) if number else None

    accepted: dict[tuple[str, bytes], set[int]] = {}
    original_accept, original_send = Info.accept, Incoming.send_stream_receipt
    patch.setattr(Info, "accept", accept)
    patch.setattr(Incoming, "send_stream_receipt", send)


def delete_a_stream_message_at_its_200(patch: Patch) -> None:
    def arrived(self: OutgoingStreams, tokens: Any) -> None:
        original(self, tokens)
        for token in tokens:
            if not hasattr(token, "lookup_id"):
                token.received_order_ack = True

    original = OutgoingStreams.arrived
    patch.setattr(OutgoingStreams, "arrived", arrived)


def delete_a_message_at_a_500(patch: Patch) -> None:
    def answered(self: Sender, transfer: Any, event: Any, now: float) -> None:
        event.answers[:] = [(token, 200) for token, _ in event.answers]
        original(self, transfer, event, now)

    original = Sender._answered
    patch.setattr(Sender, "_answered", answered)


def send_number_two_at_once(patch: Patch) -> None:
    patch.setattr(OutgoingStream, "_waits_for", lambda *_: None)


def believe_a_receipt_without_its_token(patch: Patch) -> None:
    patch.setattr(OutgoingStreams, "_believes", lambda *_: True)


def swap_answers(patch: Patch) -> None:
    def answered(self: Sender, transfer: Any, event: Any, now: float) -> None:
        tokens, statuses = zip(*event.answers, strict=True)
        event.answers[:] = zip(tokens, reversed(statuses), strict=True)
        original(self, transfer, event, now)

    original = Sender._answered
    patch.setattr(Sender, "_answered", answered)


MUTATIONS = [
    answer_before_the_flush,
    acknowledge_before_the_flush,
    forget_streams_at_a_restart,
    forget_receipt_urls_at_a_restart,
    give_a_new_number_at_a_resend,
    give_a_new_identifier_at_a_resend,
    open_old_streams_again,
    ignore_previous,
    acknowledge_no_duplicate,
    acknowledge_gapless_runs_only,
    delete_a_stream_message_at_its_200,
    delete_a_message_at_a_500,
    send_number_two_at_once,
    believe_a_receipt_without_its_token,
    swap_answers,
]


@pytest.mark.parametrize("mutate", MUTATIONS)
def test_a_mutation_is_noticed(mutate: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutate(monkeypatch)
    with pytest.raises(AssertionError):
        _run_storms()


def _run_storms() -> None:
    for seed in range(TRIALS):
        Storm(seed).run()
