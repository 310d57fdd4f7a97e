"""OrderAcks wait for the disk: what they say is stored."""

from uuid import UUID

from openmsmq.core.transfer.incoming.received import StreamProgress
from openmsmq.core.transfer.incoming.stream_order import StreamPosition
from openmsmq.core.transfer.incoming.streams import IncomingTransactionalTransferInfo
from openmsmq.engine.engine import Gate
from openmsmq.protocol.binary.order_acks import OrderAckTimer
from openmsmq.wire.packets.order_ack import OrderAck, direct_order_queue
from openmsmq.wire.scalars import TxSequenceID


def test_what_is_on_disk_is_acknowledged_while_more_is_being_written() -> None:
    gate = Gate()
    timer = OrderAckTimer(direct_order_queue("10.0.0.1"), UUID(int=2), 0.0)
    stream = IncomingTransactionalTransferInfo(1, "name", UUID(int=1))

    def receive(number: int, depends: int) -> None:
        stream.accept(StreamPosition((5).to_bytes(8), number), 0, 0.0)
        progress = StreamProgress(
            stream, timer.destination, timer.speaker, stream.sequence_identifier, number
        )
        timer.hold(gate, depends, progress)

    def acknowledged() -> int:
        ack = timer.take()
        assert ack is None or ack == OrderAck(TxSequenceID.from_value(5), ack.tx_sequence_number)
        return ack.tx_sequence_number if ack is not None else 0

    receive(1, 1)
    receive(2, 1)
    receive(3, 2)
    assert (acknowledged(), timer.waits) == (0, True)
    gate.open(1)
    assert (acknowledged(), timer.waits) == (2, True)
    assert acknowledged() == 0
    gate.open(2)
    assert (acknowledged(), timer.waits) == (3, False)
