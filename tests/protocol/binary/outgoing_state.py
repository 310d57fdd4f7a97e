"""What an outgoing queue of a node tells about its connection."""

from tests.protocol.binary.pair import TO_B, Node

from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState


def history(node: Node, name: str = TO_B) -> list[ConnectionStatus]:
    outgoing = node.outgoing(name).outgoing
    assert outgoing is not None
    return [entry.status for entry in outgoing.connection_history]


def state(node: Node, name: str = TO_B) -> QueueState:
    outgoing = node.outgoing(name).outgoing
    assert outgoing is not None
    return outgoing.state
