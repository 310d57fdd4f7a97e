"""Two nodes with a transactional queue, and what passes between them."""

from tests.protocol.binary.pair import TO_B, Network, Node, pair
from tests.protocol.binary.raw_peer import RawPeer

from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.framer import Framer

TX = {"transactional": True}


def tx_pair(**options: object) -> tuple[Network, Node, Node]:
    return pair(queue=dict(TX), **options)


def traffic(network: Network, receiver: str) -> list[UserMessage]:
    """All user messages that arrived at a node."""
    stream = b"".join(data for name, data in network.log if name == receiver)
    return [UserMessage(packet) for packet, _ in Framer().feed(stream) if not packet[2] & 0x18]


def numbers(network: Network) -> list[tuple[int, int, int]]:
    """Sequence, number and previous number of what arrived at B."""
    return [
        (
            message.tx_sequence_id.value,
            message.tx_sequence_number,
            message.previous_tx_sequence_number,
        )
        for message in traffic(network, "B")
        if message.tx_sequence_id is not None
    ]


def ordered(network: Network, a: Node, b: Node, *contents: bytes, **properties: object) -> RawPeer:
    """A raw peer in place of B that has got transactional messages from A."""
    b.listening = False
    peer = RawPeer(network, a)
    a.send(TO_B, *contents, tx=True, **properties)
    peer.accept()
    return peer
