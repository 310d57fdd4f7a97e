"""A DCE/RPC server with an endpoint mapper that knows nothing but the byte layouts.

Plain sockets, `struct` and one thread per connection, at level none and in NDR. It is written from
the published layouts alone and shares no code with the implementation, so that both cannot be wrong
in the same way. The calls that it serves are in `naive_remote_read`.
"""

import errno
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Final, Self
from uuid import UUID

REQUEST, RESPONSE, FAULT = 0, 2, 3
BIND, BIND_ACK, ALTER_CONTEXT, ALTER_CONTEXT_RESP = 11, 12, 14, 15
FIRST, LAST, DID_NOT_EXECUTE = 0x01, 0x02, 0x20
NDR: Final = UUID("8a885d04-1ceb-11c9-9fe8-08002b104860").bytes_le + struct.pack("<I", 2)
FEATURES: Final = UUID("6cb71c2c-9812-4540-0000-000000000000").bytes_le[:8]
EPM: Final = UUID("e1af8308-5d1f-11c9-91a4-08002b14a0fa")
OP_RNG_ERROR: Final = 0x1C010002
NOT_REGISTERED: Final = 0x16C9A0D6
STEP: Final = 11

# From the stub of a request and its connection to the stub of the response.
Handler = Callable[[bytes, "Connection"], bytes]
Interfaces = Mapping[UUID, Mapping[int, Handler]]


class Fault(Exception):
    """A call ends in a fault."""

    def __init__(self, status: int) -> None:
        super().__init__(f"{status:#x}")
        self.status = status


class HangUp(Exception):
    """The connection is closed in place of an answer."""


@dataclass(eq=False)
class Logged:
    """A call that came, and the stub of its answer; empty while there is none, and for a fault."""

    interface: UUID
    opnum: int
    stub: bytes
    connection: "Connection"
    answer: bytes = b""


def padded(data: bytes, size: int = 4) -> bytes:
    return data + bytes(-len(data) % size)


def listen(address: str, port: int) -> socket.socket:
    """A socket at a port; when that is taken, at the next one that is free in steps of 11."""
    while True:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
        except OSError as exc:
            listener.close()
            if exc.errno != errno.EADDRINUSE:
                raise
            port += STEP
        else:
            listener.listen()
            return listener


class Connection:
    """One connection: its bind, and one call after the other."""

    def __init__(self, server: "NaiveRpcServer", stream: socket.socket) -> None:
        self._server = server
        self.stream = stream
        self._fragment = 5840
        self._contexts: dict[int, UUID] = {}
        self.group = 0

    def serve(self) -> None:
        stub = b""
        while (pdu := self._read_pdu()) is not None:
            kind, flags, call_id, body = pdu
            if kind in (BIND, ALTER_CONTEXT):
                self._bind(kind, call_id, body)
            elif kind == REQUEST:
                context, opnum = struct.unpack_from("<HH", body, 4)
                stub = (b"" if flags & FIRST else stub) + body[8:]
                if flags & LAST:
                    self._call(call_id, context, opnum, stub)

    @property
    def is_gone(self) -> bool:
        """Whether the client has hung up."""
        try:
            return not self.stream.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _read(self, size: int) -> bytes | None:
        data = b""
        while len(data) < size:
            part = self.stream.recv(size - len(data))
            if not part:
                return None
            data += part
        return data

    def _read_pdu(self) -> tuple[int, int, int, bytes] | None:
        head = self._read(16)
        if head is None:
            return None
        version, _, kind, flags, drep, length, auth, call_id = struct.unpack("<BBBB4sHHI", head)
        assert (version, drep, auth) == (5, b"\x10\0\0\0", 0)
        body = self._read(length - 16)
        return None if body is None else (kind, flags, call_id, body)

    def _send(self, kind: int, call_id: int, body: bytes, flags: int = FIRST | LAST) -> None:
        head = struct.pack(
            "<BBBB4sHHI", 5, 0, kind, flags, b"\x10\0\0\0", 16 + len(body), 0, call_id
        )
        self.stream.sendall(head + body)

    def _bind(self, kind: int, call_id: int, body: bytes) -> None:
        transmit, receive, group, contexts = struct.unpack_from("<HHIB", body)
        if kind == BIND:
            self._fragment = min(transmit, receive, 5840) & ~7
            self.group = self._server.join(self, group)
        at, results = 12, b""
        for _ in range(contexts):
            context, syntaxes = struct.unpack_from("<HB", body, at)
            interface = UUID(bytes_le=body[at + 4 : at + 20])
            at += 24
            offered = [body[at + 20 * n : at + 20 * n + 20] for n in range(syntaxes)]
            at += 20 * syntaxes
            results += self._negotiated(context, interface, offered)
        port = b"%d\0" % self.stream.getsockname()[1] if kind == BIND else b""
        answer = struct.pack("<HHIH", self._fragment, self._fragment, self.group, len(port)) + port
        answer = padded(answer) + struct.pack("<Bxxx", contexts) + results
        self._send(BIND_ACK if kind == BIND else ALTER_CONTEXT_RESP, call_id, answer)

    def _negotiated(self, context: int, interface: UUID, offered: list[bytes]) -> bytes:
        if any(syntax.startswith(FEATURES) for syntax in offered):
            return struct.pack("<HH", 3, 0) + bytes(20)
        calls = self._server.interfaces.get(interface)
        if calls is None:
            return struct.pack("<HH", 2, 1) + bytes(20)
        if NDR not in offered:
            return struct.pack("<HH", 2, 2) + bytes(20)
        self._contexts[context] = interface
        return struct.pack("<HH", 0, 0) + NDR

    def _call(self, call_id: int, context: int, opnum: int, stub: bytes) -> None:
        interface = self._contexts[context]
        logged = Logged(interface, opnum, stub, self)
        self._server.log.append(logged)
        handler = self._server.interfaces[interface].get(opnum)
        status, flags = OP_RNG_ERROR, FIRST | LAST | DID_NOT_EXECUTE
        if handler is not None:
            try:
                logged.answer = handler(stub, self)
                self._respond(call_id, context, logged.answer)
            except Fault as exc:
                status, flags = exc.status, FIRST | LAST
            else:
                return
        body = struct.pack("<IHBxII", 32, context, 0, status, 0)
        self._send(FAULT, call_id, body, flags)

    def _respond(self, call_id: int, context: int, stub: bytes) -> None:
        size = self._fragment - 24
        for at in range(0, max(len(stub), 1), size):
            flags = (FIRST if at == 0 else 0) | (LAST if at + size >= len(stub) else 0)
            body = struct.pack("<IHBx", len(stub) - at, context, 0) + stub[at : at + size]
            self._send(RESPONSE, call_id, body, flags)


class NaiveRpcServer:
    """Serves all interfaces at every port.

    Args:
        ports: 0 for any; a port that is taken steps up by 11.
        rundown: called with an association group when its last connection is gone.

    Attributes:
        log: the calls that came, in their order.
    """

    def __init__(
        self,
        address: str,
        ports: list[int],
        interfaces: Interfaces,
        rundown: Callable[[int], None] = lambda group: None,  # noqa: ARG005
    ) -> None:
        self.interfaces = interfaces
        self.log: list[Logged] = []
        self._rundown = rundown
        self._lock = threading.Lock()
        self._groups: dict[int, set[Connection]] = {}
        self._next_group = count(0x1000)
        self._open: list[Connection] = []
        self._listeners = [listen(address, port) for port in ports]
        self.ports = [listener.getsockname()[1] for listener in self._listeners]
        self._threads = [
            threading.Thread(target=self._accept, args=[listener]) for listener in self._listeners
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for listener in self._listeners:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        self.hang_up()
        for thread in list(self._threads):
            thread.join(20)
            assert not thread.is_alive()

    def hang_up(self, *, first_only: bool = False) -> None:
        """Close all connections, or the oldest; new ones are taken."""
        with self._lock:
            for connection in self._open[:1] if first_only else self._open:
                with suppress(OSError):
                    connection.stream.shutdown(socket.SHUT_RDWR)

    def join(self, connection: Connection, group: int) -> int:
        """The association group of a new connection; 0 asks for a new one."""
        with self._lock:
            group = group or next(self._next_group)
            self._groups.setdefault(group, set()).add(connection)
            return group

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                stream, _ = listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=[stream])
            self._threads.append(thread)
            thread.start()

    def _serve(self, stream: socket.socket) -> None:
        connection = Connection(self, stream)
        with self._lock:
            self._open.append(connection)
        with stream, suppress(OSError, HangUp):
            connection.serve()
        with self._lock:
            self._open.remove(connection)
            members = self._groups.get(connection.group, set())
            members.discard(connection)
            last = not members
        if last:
            self._rundown(connection.group)


def tower(interface: UUID, port: int, address: str) -> bytes:
    """Five floors: interface, NDR, connection-oriented RPC, TCP port, IPv4 address."""
    floors = [
        (b"\x0d" + interface.bytes_le + struct.pack("<H", 1), bytes(2)),
        (b"\x0d" + NDR[:18], NDR[18:]),
        (b"\x0b", bytes(2)),
        (b"\x07", struct.pack(">H", port)),
        (b"\x09", socket.inet_aton(address)),
    ]
    return struct.pack("<H", len(floors)) + b"".join(
        struct.pack("<H", len(left)) + left + struct.pack("<H", len(right)) + right
        for left, right in floors
    )


def endpoint_mapper(address: str, ports: Mapping[UUID, int]) -> Interfaces:
    """ept_map, for interfaces of version 1.0 and their ports."""

    def ept_map(stub: bytes, _: Connection) -> bytes:
        at = 20 if struct.unpack_from("<I", stub)[0] else 4
        length = struct.unpack_from("<I", stub, at + 8)[0]
        question = stub[at + 12 : at + 12 + length]
        at += len(padded(bytes(12 + length)))
        (most,) = struct.unpack_from("<I", stub, at + 20)
        interface = UUID(bytes_le=question[5:21])
        port = ports.get(interface)
        if port is None:
            return bytes(20) + struct.pack("<IIIII", 0, most, 0, 0, NOT_REGISTERED)
        found = tower(interface, port, address)
        answer = bytes(20) + struct.pack("<IIIII", 1, most, 0, 1, 3)
        answer += struct.pack("<II", len(found), len(found)) + found
        return padded(answer) + struct.pack("<I", 0)

    return {EPM: {3: ept_map}}
