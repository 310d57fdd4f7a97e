"""A relay on loopback that writes down what passes, as a capture that other programs read."""

import socket
import threading
from contextlib import suppress
from typing import Final, NamedTuple, Self

from tests.wire.capture.writer import ACK, PSH, SYN, ethernet, ipv4, pcap, tcp

HOST: Final = "127.0.0.1"
# The port of the server in captures.
PORT: Final = 2103
SEGMENT: Final = 1400
SECONDS: Final = 20.0


class Passed(NamedTuple):
    """Bytes that passed over a connection."""

    connection: int
    by_client: bool
    data: bytes


class Recorder:
    """Listens at `port`, and passes everything on to a server."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._lock = threading.Lock()
        self._passed: list[Passed] = []
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server((HOST, 0))
        self.port: Final[int] = self._listener.getsockname()[1]
        self._start(self._accept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in list(self._threads):
            thread.join(SECONDS)
            assert not thread.is_alive()

    def _start(self, target: object, *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        number = 0
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection((HOST, self._target), SECONDS)
            server.settimeout(None)
            self._sockets += [client, server]
            self._start(self._pass, number, True, client, server)
            self._start(self._pass, number, False, server, client)
            number += 1

    def _pass(
        self,
        number: int,
        by_client: bool,  # noqa: FBT001 - the argument of a thread
        source: socket.socket,
        target: socket.socket,
    ) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                with self._lock:
                    self._passed.append(Passed(number, by_client, data))
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def capture(self) -> bytes:
        """What passed, as a pcap file of connections to port 2103."""
        with self._lock:
            passed = list(self._passed)
        frames: list[bytes] = []
        # The next sequence numbers of client and server, by connection.
        places: dict[int, list[int]] = {}
        for number, by_client, data in passed:
            if number not in places:
                places[number] = [1, 1]
                frames.append(_frame(number, True, b"", 0, 0, SYN))
                frames.append(_frame(number, False, b"", 0, 1, SYN | ACK))
                frames.append(_frame(number, True, b"", 1, 1, ACK))
            place = places[number]
            for start in range(0, len(data), SEGMENT):
                part = data[start : start + SEGMENT]
                mine, other = (0, 1) if by_client else (1, 0)
                frames.append(_frame(number, by_client, part, place[mine], place[other], PSH | ACK))
                place[mine] += len(part)
        return pcap(*frames)


def _frame(
    number: int,
    by_client: bool,  # noqa: FBT001 - short for what is above
    data: bytes,
    sequence: int,
    acknowledgment: int,
    flags: int,
) -> bytes:
    client, server = ("192.0.2.1", 50000 + number), ("192.0.2.2", PORT)
    source, destination = (client, server) if by_client else (server, client)
    segment = tcp(
        data,
        sequence=sequence,
        acknowledgment=acknowledgment,
        flags=flags,
        source_port=source[1],
        destination_port=destination[1],
    )
    return ethernet(ipv4(segment, source=source[0], destination=destination[0]))
