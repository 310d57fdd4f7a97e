"""Empty calls of RPC: the server's processor time, with so many in flight."""

import socket
import time
from struct import Struct
from typing import Final

from openmsmq.wire.codes.endpoints import REMOTE_READ
from openmsmq.wire.ndr import NDR
from openmsmq.wire.rpc.bind import Bind, ContextElement
from openmsmq.wire.rpc.header import PduType, pack_pdu
from openmsmq.wire.rpc.syntax import SyntaxId

from .brokers import Broker

# R_GetServerPort: no parameters, a result of four bytes.
_REQUEST: Final = Struct("<8sHHIIHH").pack
_START: Final = b"\x05\x00\x00\x03\x10\x00\x00\x00"
REQUEST_BYTES: Final = 24
RESPONSE_BYTES: Final = 28
TOGETHER: Final = 4800
TIMEOUT: Final = 30


def bind_pdu() -> bytes:
    """A bind to RemoteRead in NDR, without authentication."""
    abstract = SyntaxId.of_interface(REMOTE_READ)
    element = ContextElement(0, abstract, (SyntaxId.of_transfer(NDR),))
    return pack_pdu(PduType.BIND, 1, Bind(5840, 5840, 0, (element,)).serialize())


class EmptyCalls:
    """One connection that makes empty calls.

    Args:
        binds: whether the server wants a bind first.
    """

    def __init__(self, host: str, port: int, *, binds: bool) -> None:
        self._socket = socket.create_connection((host, port), TIMEOUT)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._last = 1
        if binds:
            self._socket.sendall(bind_pdu())
            answer = self._socket.recv(4096)
            if answer[2] != PduType.BIND_ACK:
                raise RuntimeError(f"the bind was answered with PDU type {answer[2]}")

    def close(self) -> None:
        self._socket.close()

    def run(self, count: int, in_flight: int) -> None:
        """Make so many calls; the next ones leave when all that are in flight are answered."""
        first = self._last + 1
        self._last += count
        requests = b"".join(
            _REQUEST(_START, REQUEST_BYTES, 0, number, 0, 0, 0)
            for number in range(first, first + count)
        )
        view = memoryview(requests)
        answers = bytearray(RESPONSE_BYTES * in_flight)
        size = REQUEST_BYTES * in_flight
        for at in range(0, len(requests), size):
            part = view[at : at + size]
            self._socket.sendall(part)
            self._take(memoryview(answers)[: len(part) // REQUEST_BYTES * RESPONSE_BYTES])
            if answers[2] != PduType.RESPONSE:
                raise RuntimeError(f"a call was answered with PDU type {answers[2]}")

    def _take(self, room: memoryview) -> None:
        while room:
            size = self._socket.recv_into(room)
            if not size:
                raise ConnectionError("the server hung up")
            room = room[size:]


def processor_time(broker: Broker, calls: EmptyCalls, in_flight: int, seconds: float) -> float:
    """Microseconds of the server's processor time for each call."""
    calls.run(TOGETHER, in_flight)
    before = broker.cpu_seconds()
    count = 0
    end = time.monotonic() + seconds
    while not count or time.monotonic() < end:
        calls.run(TOGETHER, in_flight)
        count += TOGETHER
    return (broker.cpu_seconds() - before) / count * 1e6
