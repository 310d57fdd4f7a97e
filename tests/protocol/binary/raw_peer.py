"""A peer that sends what it is told, on the network of `pair`: good for bad behaviour."""

from typing import Any
from uuid import UUID

from tests.protocol.binary.pair import TO_B, Network, Node

from openmsmq.protocol.binary.events import Connect, Disconnect
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.message.transaction_header import TransactionHeader
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address, private_address
from openmsmq.wire.packets.connection_parameters import ConnectionParameters
from openmsmq.wire.packets.establish_connection import EstablishConnection, OperatingSystemFlags
from openmsmq.wire.packets.framer import Framer
from openmsmq.wire.packets.order_ack import (
    FinalAck,
    OrderAck,
    build_final_ack,
    build_order_ack,
    direct_order_queue,
    recognize_ack,
)
from openmsmq.wire.packets.session_header import SessionAck, SessionHeader
from openmsmq.wire.scalars import GUID_NULL, TxSequenceID

SOURCE = UUID(int=7 << 96 | 0x77)


def tx_message(
    body: bytes,
    sequence: int,
    number: int,
    previous: int,
    *,
    flags: int = 0,
    private: tuple[UUID, int] | None = None,
    source: UUID = SOURCE,
    name: str = TO_B.removeprefix("DIRECT="),
    **properties: Any,
) -> bytes:
    """A transactional message for the queue `orders` of B."""
    destination = direct_address(name)
    if private is not None:
        destination = private_address(*private)
        properties.setdefault("queue_manager_address", private[0])
    properties.setdefault("message_id", number)
    properties.setdefault("sent_time", 1_700_000_000)
    return build_user_message(
        body=body,
        destination_queue=destination,
        source_queue_manager=source,
        transaction_header=TransactionHeader(
            flags, TxSequenceID.from_value(sequence), number, previous
        ),
        **properties,
    )


class RawPeer:
    """Talks to one node over one connection, without a session of its own."""

    def __init__(
        self, network: Network, node: Node, *, address: str = "10.0.0.7", number: int = 7
    ) -> None:
        self.network = network
        self.node = node
        self.address = address
        self.guid = UUID(int=number << 96 | 0x77) if number != 7 else SOURCE
        self.connection = 0
        self.framer = Framer()
        self.received: list[UserMessage] = []
        self.internal: list[bytes] = []
        self.closed: Disconnect | None = None
        self.sent = 0
        self.sent_recoverable = 0
        self.last_sequence = 0
        self._told = 0
        network.raw.append(self)

    @staticmethod
    def sequence(value: int) -> TxSequenceID:
        return TxSequenceID.from_value(value)

    def connect(self) -> None:
        """Be the initiator of a session."""
        self.node.qm.set_time(now=self.network.now, utc=self.network.utc)
        number = self.node.binary.accept(self.address, now=self.network.now)
        assert number is not None
        self.connection = number
        hello = EstablishConnection(self.guid, GUID_NULL, 1, OperatingSystemFlags.SE)
        self.push(hello.serialize())
        self.push(ConnectionParameters(500, 20_000, 64).serialize())

    def accept(self) -> None:
        """Be the acceptor of the next connection that the node makes."""
        self.network.run()
        while self.connection == 0:
            self.network.advance(5)
        hello = EstablishConnection.parse(self.internal.pop(0))[0]
        self.push(
            EstablishConnection(
                hello.client_guid, self.guid, hello.time_stamp, OperatingSystemFlags.SE
            ).serialize()
        )
        self.push(ConnectionParameters(500, 20_000, 64).serialize())

    def take(self, command: Connect) -> bool:
        """The network offers a connection that the node wants to make."""
        if self.connection:
            return False
        self.connection = command.connection
        self.node.binary.connected(command.connection, self.address, now=self.network.now)
        return True

    def push(self, data: bytes) -> None:
        """Send bytes and let everything happen."""
        self.node.qm.set_time(now=self.network.now, utc=self.network.utc)
        self.node.binary.receive_data(self.connection, data, now=self.network.now)
        self.network.run()

    def send(self, *packets: bytes) -> None:
        """Send messages in one piece."""
        for packet in packets:
            self.sent += 1
            self.sent_recoverable += bool(packet[60] & 0x20)
        self.push(b"".join(packets))

    def feed(self, data: bytes) -> None:
        """Bytes of the node."""
        for packet, _ in self.framer.feed(data):
            if packet[2] & 0x08:
                self.internal.append(packet)
                continue
            if packet[2] & 0x10:
                packet = packet[:2] + bytes((packet[2] & ~0x10,)) + packet[3:]
            message = UserMessage(packet)
            self.received.append(message)
            if message.tx_sequence_id is not None:
                self.last_sequence = message.tx_sequence_id.value

    def acks(self) -> list[OrderAck | FinalAck]:
        """The transactional acknowledgments since the last call."""
        fresh = self.received[self._told :]
        self._told = len(self.received)
        found = [recognize_ack(message) for message in fresh]
        return [ack for ack in found if ack is not None]

    def session_acks(self) -> list[SessionHeader]:
        """The stand-alone session acknowledgments since the last call."""
        headers = [
            SessionAck.parse(packet)[0].session_header
            for packet in self.internal
            if packet[18] & 0x0F == 1
        ]
        self.internal.clear()
        return headers

    def session_ack(self, count: int | None = None, *, first: int = 1, flags: int = -1) -> None:
        """Acknowledge everything that came, as received and as on disk."""
        received = len(self.received) if count is None else count
        recoverable = sum(bool(each.flags & 0x20) for each in self.received)
        if flags < 0:
            flags = (1 << recoverable) - 1 if recoverable else 0
        header = SessionHeader(
            received,
            first if recoverable and flags else 0,
            flags & 0xFFFFFFFF,
            self.sent & 0xFFFF,
            self.sent_recoverable & 0xFFFF,
        )
        self.push(SessionAck(header).serialize())

    def order_ack(
        self, number: int, *, sequence_offset: int = 0, source: UUID | None = None
    ) -> None:
        """Acknowledge a sequence; `source` is the queue manager that says so, if it is another."""
        ack = OrderAck(self.sequence(self.last_sequence + sequence_offset), number)
        self.send(
            build_order_ack(
                ack,
                direct_order_queue(self.node.address),
                source_queue_manager=source or self.guid,
                message_id=self._ordinal(),
                sent_time=int(self.network.utc),
            )
        )

    def final_ack(
        self,
        number: int,
        message_class: MessageClass,
        *,
        message_id: int | None = None,
        source: UUID | None = None,
    ) -> None:
        sequence = self.sequence(self.last_sequence)
        if message_id is None:
            message_id = next(
                (
                    each.message_id
                    for each in self.received
                    if each.tx_sequence_number == number and each.tx_sequence_id == sequence
                ),
                0,
            )
        ack = FinalAck(sequence, number, number - 1, self.node.guid, message_id)
        self.send(
            build_final_ack(
                ack,
                message_class,
                direct_order_queue(self.node.address),
                source_queue_manager=source or self.guid,
                message_id=self._ordinal(),
                sent_time=int(self.network.utc),
            )
        )

    def _ordinal(self) -> int:
        return 1_000_000 + self.sent
