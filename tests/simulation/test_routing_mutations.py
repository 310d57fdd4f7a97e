"""Ways to get routing wrong, each put in on purpose: the simulation must notice every one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from openmsmq.core.messages.system_messages import send_system_message
from openmsmq.core.model.message import RECOVERABLE, Traits
from openmsmq.core.model.queue import Queue
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.rows.packets import packets_of
from openmsmq.core.transfer.forwarding import routed
from openmsmq.core.transfer.incoming import reception as receiving
from openmsmq.core.transfer.incoming.received import ArrivingStreams
from openmsmq.core.transfer.incoming.reception import Reception
from openmsmq.core.transfer.incoming.stream_order import StreamPosition
from openmsmq.core.transfer.incoming.streams import IncomingTransactionalTransferInfo
from openmsmq.protocol.binary.receiving import Receiver
from openmsmq.wire.errors import StoreError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun
from openmsmq.wire.packets.order_ack import OrderAck, build_order_ack, order_queue

from .node import Node
from .run import Simulation

# Seeds with routers.
SEEDS: Final = range(2, 120, 3)
Patch = pytest.MonkeyPatch


def filter_transactional_messages_by_id(patch: Patch) -> None:
    """A hop leaves out a transactional message that came before."""

    def forward(self: Any, run: UserMessageRun) -> bool:
        if run.head.transaction_offset:
            fresh = self._take_new(run)
            if fresh is None:
                return True
            self._note(run.head, fresh.identifiers)
            run = fresh.run
        return original(self, run)

    original = Reception._forward
    patch.setattr(Reception, "_forward", forward)


def forget_at_the_own_acknowledgment(patch: Patch) -> None:
    """A hop keeps nothing of a message that it has acknowledged, but in memory."""
    patch.setattr(routed, "_PLAIN", routed._PLAIN & ~RECOVERABLE)
    patch.setattr(routed, "_TRANSACTIONAL", 0)


def acknowledge_for_the_destination(patch: Patch) -> None:
    """A hop tells the source how far its stream got, in the name of the destination."""

    def store(state: Any, run: UserMessageRun, queue: Queue, address: str) -> int:
        count = original(state, run, queue, address)
        header = run.head.transaction_header
        if count and header is not None:
            ack = OrderAck(header.tx_sequence_id, header.tx_sequence_number + count - 1)
            order = order_queue(run.head.source_queue_manager)

            def build(ordinal: int) -> bytes:
                return build_order_ack(
                    ack,
                    order,
                    source_queue_manager=run.head.queue_manager_address,
                    message_id=ordinal,
                    sent_time=int(state.utc),
                )

            send_system_message(state, order, build, what="acknowledgment", about=None)
        return count

    original = routed.store
    patch.setattr(receiving, "store", store)


def never_raise_the_count(patch: Patch) -> None:
    """RC stays as it was, and two routers that disagree send messages round for ever."""
    patch.setattr(routed, "with_routing_count", lambda packets, _count: list(packets))

    def mislead(self: Simulation) -> None:
        scheduled(self)
        if self.sites is not None:
            self.sites.make_circle()

    scheduled = Simulation._schedule
    patch.setattr(Simulation, "_schedule", mislead)


def keep_a_journal_copy(patch: Patch) -> None:
    """A hop journals what it forwards."""
    kept = routed._PLAIN | int(Traits.POSITIVE_JOURNALING)
    patch.setattr(routed, "_PLAIN", kept)


def match_acknowledgments_by_the_peer(patch: Patch) -> None:
    """An OrderAck counts for what was sent to the peer of the session."""

    def take(self: Any, message: UserMessage) -> bool:
        peer = peers.get(id(self))
        if peer is None or message.source_queue_manager == peer:
            return taken(self, message)
        return False

    def note(self: Any, connection: Any, *args: Any, now: float) -> None:
        peers[id(self)] = connection.session.remote_guid
        original(self, connection, *args, now=now)

    peers: dict[int, Any] = {}
    original = Receiver.receive
    taken = Receiver.take
    patch.setattr(Receiver, "take", take)
    patch.setattr(Receiver, "receive", note)


def key_streams_by_the_peer(patch: Patch) -> None:
    """All sources behind one router share a stream ([MS-MQQB] 3.1.5.8.8 as it is written)."""

    def find(
        self: Any, message: UserMessage, queue: Queue | None, position: Any
    ) -> IncomingTransactionalTransferInfo:
        peer = StreamPosition(
            position.sequence,
            position.number,
            position.previous,
            sender=self._origin.queue_manager,
        )
        found: IncomingTransactionalTransferInfo = original(self, message, queue, peer)
        return found

    original = ArrivingStreams.find
    patch.setattr(ArrivingStreams, "find", find)


def forget_forwarded_messages_at_a_restart(patch: Patch) -> None:
    """What a hop has stored for others is not there after a start."""

    def open_changed(node: Node, *args: Any) -> QueueManager:
        qm = opened(node, *args)
        if node.life > 1:
            for queue in qm.outgoing.queues:
                foreign = [
                    message
                    for message, view in zip(
                        list(queue.lanes), node_messages(qm, queue), strict=True
                    )
                    if view.source_queue_manager != node.guid
                ]
                qm.outgoing.finish(queue, foreign, 2)
        return qm

    opened = Node.open
    patch.setattr(Node, "open", open_changed)


def node_messages(qm: QueueManager, queue: Queue) -> list[UserMessage]:
    """The visible messages of a queue."""
    return [UserMessage(packet) for packet in packets_of(qm.state, list(queue.lanes))]


# A machine with other work to do may need long for some seeds.
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "mutation",
    [
        filter_transactional_messages_by_id,
        forget_at_the_own_acknowledgment,
        acknowledge_for_the_destination,
        never_raise_the_count,
        keep_a_journal_copy,
        match_acknowledgments_by_the_peer,
        key_streams_by_the_peer,
        forget_forwarded_messages_at_a_restart,
    ],
)
def test_the_simulation_notices(
    mutation: Callable[[Patch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    mutation(monkeypatch)
    for seed in SEEDS:
        try:
            Simulation(seed).run()
        except (AssertionError, StoreError) as exc:
            print(f"seed {seed}: {exc}")
            return
    pytest.fail(f"{mutation.__name__} went unnoticed in {len(SEEDS)} seeds")
