"""Connections of a capture, within a budget of memory."""

from tests.wire.frames import frame_bytes

from openmsmq.cli.decode.source import Connections, Notice, Packet
from openmsmq.wire.capture import Flow, StreamData, StreamEnd

FLOW = Flow(b"\xc0\0\2\1", 50000, b"\xc0\0\2\2", 1801)
OTHER = Flow(b"\xc0\0\2\1", 50001, b"\xc0\0\2\2", 1801)
MESSAGE = frame_bytes(7)


def test_packets_that_wait_for_their_rest_have_a_budget() -> None:
    connections = Connections(max_pending=1500)
    assert list(connections.items(StreamData(FLOW, 1, 0, 0, MESSAGE[:1000]))) == []
    (given_up,) = connections.items(StreamData(OTHER, 2, 0, 0, MESSAGE[:1000]))
    assert isinstance(given_up, Packet)
    assert given_up.origin.stream == 2
    assert given_up.summary().fault is not None
    (whole,) = connections.items(StreamData(FLOW, 3, 0, 1000, MESSAGE[1000:]))
    assert isinstance(whole, Packet)
    assert (whole.data, whole.origin.frame) == (MESSAGE, 3)


def test_the_budget_is_free_again_when_a_stream_ends() -> None:
    connections = Connections(max_pending=1500)
    for number in range(5):
        flow = Flow(FLOW.source, 50000 + number, FLOW.destination, 1801)
        assert list(connections.items(StreamData(flow, 1, 0, 0, MESSAGE[:1000]))) == []
        ended, told = connections.items(StreamEnd(flow, 2, 0, 1000, "reset"))
        assert isinstance(ended, Packet)
        assert isinstance(told, Notice)
        assert told.stream == number + 1
