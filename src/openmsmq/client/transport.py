"""Blocking connection to a queue manager: requests out, replies by id.

Any number of threads may use one connection. Whoever waits for a reply and finds nobody reading
reads for all; nobody needs a thread of its own.
"""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from openmsmq.protocol.local.framing import FrameBuffer, frame
from openmsmq.protocol.local.messages import AnyReply, Request, decode_reply, encode

from .errors import ConnectionLost

READ_SIZE = 256 * 1024


class Transport:
    """One connection; `post` sends, `wait` returns the reply."""

    def __init__(self, sock: socket.socket, description: str) -> None:
        self._socket = sock
        self._description = description
        self._buffer = FrameBuffer()
        self._replies: dict[int, list[AnyReply]] = {}
        self._abandoned: set[int] = set()
        self._send_lock = threading.Lock()
        self._changed = threading.Condition()
        self._reading = False
        self._next_id = 0
        self._fault: ConnectionLost | None = None

    @property
    def description(self) -> str:
        """Where the queue manager is, for error texts."""
        return self._description

    @property
    def closed(self) -> bool:
        return self._fault is not None

    def next_id(self) -> int:
        """A request id that was not used before on this connection."""
        with self._send_lock:
            self._next_id += 1
            return self._next_id

    def post(self, requests: Iterable[Request]) -> None:
        """Send requests in order, without waiting for replies."""
        data = b"".join([frame(encode(request)) for request in requests])
        with self._send_lock:
            if self._fault is not None:
                raise self._fault
            try:
                self._socket.sendall(data)
            except OSError as exc:
                raise self._lost(exc) from exc

    def take(self, request_id: int) -> AnyReply | None:
        """The next reply to a request, if it is here already."""
        with self._changed:
            return self._pop(request_id)

    def wait(self, request_id: int, timeout: float | None = None) -> AnyReply | None:
        """The next reply to a request; None when it did not come in time."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            with self._changed:
                reply = self._pop(request_id)
                if reply is not None:
                    return reply
                if self._fault is not None:
                    raise self._fault
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return None
                if self._reading:
                    self._changed.wait(left)
                    continue
                self._reading = True
            try:
                self._read(left)
            finally:
                with self._changed:
                    self._reading = False
                    self._changed.notify_all()

    def abandon(self, request_id: int) -> None:
        """Drop the reply to a request when it comes."""
        with self._changed:
            if self._replies.pop(request_id, None) is None:
                self._abandoned.add(request_id)

    def close(self) -> None:
        """Close the connection; waiting calls in other threads end with an error."""
        with self._changed:
            if self._fault is None:
                self._fault = ConnectionLost(f"the connection to {self._description} was closed")
            self._changed.notify_all()
        # The other side may have been faster: the socket is closed all the same.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _pop(self, request_id: int) -> AnyReply | None:
        waiting = self._replies.get(request_id)
        if not waiting:
            return None
        reply = waiting.pop(0)
        if not waiting:
            del self._replies[request_id]
        return reply

    def _read(self, timeout: float | None) -> None:
        try:
            self._socket.settimeout(timeout)
            data = self._socket.recv(READ_SIZE)
        except TimeoutError:
            return
        except OSError as exc:
            raise self._lost(exc) from exc
        if not data:
            raise self._lost(None)
        arrived = [decode_reply(payload) for payload in self._buffer.feed(data)]
        with self._changed:
            for reply in arrived:
                if reply.id in self._abandoned:
                    self._abandoned.discard(reply.id)
                else:
                    self._replies.setdefault(reply.id, []).append(reply)

    def _lost(self, cause: OSError | None) -> ConnectionLost:
        why = f": {cause}" if cause is not None else ""
        if self._fault is None:
            self._fault = ConnectionLost(
                f"the queue manager at {self._description} closed the connection{why}"
            )
        return self._fault


def connect_unix(path: Path, timeout: float) -> Transport:
    """Connect to the Unix socket of a queue manager on this machine."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout)
        sock.connect(str(path))
    except OSError as exc:
        sock.close()
        raise ConnectionLost(
            f"no queue manager answers at {path}: {exc.strerror or exc}. "
            "Start one with `openmsmq serve`, or name its socket "
            "(--socket, OPENMSMQ_SOCKET, connect(path))."
        ) from exc
    return Transport(sock, str(path))


def connect_tcp(host: str, port: int, context: ssl.SSLContext, timeout: float) -> Transport:
    """Connect to the local protocol over TCP, which always speaks TLS."""
    try:
        plain = socket.create_connection((host, port), timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock = context.wrap_socket(plain, server_hostname=host)
    except OSError as exc:
        raise ConnectionLost(
            f"no queue manager answers at {host}:{port}: {exc}. "
            "It listens there only when started with --local-port."
        ) from exc
    return Transport(sock, f"{host}:{port}")
