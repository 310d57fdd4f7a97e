"""Messages of another queue manager, handed to the core as a transport does."""

from tests.core.harness import OTHER_GUID, Harness

from openmsmq.core.transfer.incoming.inlet import Inlet
from openmsmq.core.transfer.incoming.received import Received
from openmsmq.core.transfer.transports import Origin, Transport
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import split_runs

ORIGIN = Origin(Transport.BINARY, "10.0.0.9", OTHER_GUID)


class Peer:
    """One connection of a transport; what it is told is kept."""

    def __init__(self, harness: Harness) -> None:
        self.later: list[tuple[object, Received]] = []
        self.inlet: Inlet = harness.qm.incoming.open_inlet(self, acknowledgments=self)

    def send(self, *packets: bytes, read: object = None) -> Received | None:
        """Hand over packets that came together."""
        return self.inlet.receive(split_runs(packets), ORIGIN, read)

    def received(self, read: object, received: Received, *, now: float) -> None:
        assert now
        self.later.append((read, received))

    def take(self, message: UserMessage) -> bool:
        assert message.packet
        return False


def arrive(harness: Harness, *packets: bytes) -> Received:
    """What becomes of packets that came together and need no check."""
    received = Peer(harness).send(*packets)
    assert received is not None
    return received
