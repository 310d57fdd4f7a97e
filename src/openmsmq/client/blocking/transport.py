"""Bytes of one channel over one socket, for any number of threads.

Whoever waits for a reply and finds nobody reading reads for all. Whoever cannot write because the
queue manager is busy answering reads meanwhile, so that both sides always get on.
"""

import contextlib
import select
import socket
import threading
import time
from typing import TYPE_CHECKING, Final

from openmsmq.client.address import (
    Address,
    TcpAddress,
    UnixAddress,
    hung_up,
    nobody_answers,
)
from openmsmq.client.backend import Channel
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.remote.address import RpcAddress

from .turns import Turns, milliseconds

if TYPE_CHECKING:
    from openmsmq.client.remote.blocking_transport import RemoteTransport

    from .tls import Tls


# Larger pieces cost more in fresh memory than they save in calls.
READ_SIZE: Final = 64 * 1024
# How long a message may wait for others to leave with.
LINGER_SECONDS: Final = 0.002
WRITER_POLL_MILLISECONDS: Final = 100


class Transport(Turns[Channel]):
    """Moves the bytes of a channel; `lock` guards the channel."""

    def __init__(self, sock: socket.socket, channel: Channel, tls: "Tls | None") -> None:
        super().__init__(channel)
        sock.setblocking(False)
        self._socket = sock
        self._tls = tls
        self._write_lock = threading.Lock()
        self._readable = _poll(sock, select.POLLIN)
        self._writable = _poll(sock, select.POLLOUT)
        self._either = _poll(sock, select.POLLIN | select.POLLOUT)
        # Whether messages that wait for others leave soon by themselves.
        self.lingers = False
        self._linger_begins = threading.Event()
        self._lingerer: threading.Thread | None = None

    # Waiting for replies

    def _poll_for(self, seconds: float | None) -> list[tuple[int, int]]:
        return self._readable.poll(milliseconds(seconds))

    def _read(self, came: list[tuple[int, int]]) -> bool:
        if not came:
            return False
        tls = self._tls
        try:
            if tls is None:
                # Only whoever reads touches this memory.
                count = self._socket.recv_into(self.channel.space())
            else:
                data = self._socket.recv(READ_SIZE)
                count = len(data)
        except BlockingIOError:
            return False
        except OSError as exc:
            raise self._lost(exc) from exc
        if not count:
            raise self._lost(None)
        with self.lock:
            if tls is None:
                self.channel.filled(count)
            else:
                try:
                    clear = tls.decrypt(data)
                except OSError as exc:
                    raise self._lost(exc) from exc
                self.channel.receive_data(clear)
        return True

    # Writing

    def flush(self) -> None:
        """Write everything that was posted.

        Raises:
            ConnectionLost: it cannot be written.
        """
        channel = self.channel
        try:
            while channel.has_data:
                with self._write_lock:
                    with self.lock:
                        if channel.fault is not None:
                            raise ConnectionLost(str(channel.fault))
                        plain = channel.data_to_send()
                        data = self._tls.encrypt(plain) if self._tls and plain else plain
                    self._write(memoryview(data))
        except ConnectionLost:
            raise
        except BaseException:
            self.lose_track()
            raise

    def _write(self, left: memoryview) -> None:
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                self._wait_writable()
            except OSError as exc:
                raise self._lost(exc) from exc

    def _wait_writable(self) -> None:
        with self.lock:
            reads = not self._reading
            if reads:
                self._reading = True
        if not reads:
            self._writable.poll(WRITER_POLL_MILLISECONDS)
            return
        try:
            came = self._either.poll()
            if came[0][1] & ~select.POLLOUT:
                self._read(came)
        finally:
            self._stop_reading()

    # Messages that wait for others

    def linger(self) -> None:
        """Let the messages that came together leave soon, however long the program does nothing."""
        if self._lingerer is None:
            self._lingerer = threading.Thread(
                target=self._flush_later, name="openmsmq-linger", daemon=True
            )
            self._lingerer.start()
        self.lingers = True
        self._linger_begins.set()

    def _flush_later(self) -> None:
        while self._linger_begins.wait() and self.channel.fault is None:
            self._linger_begins.clear()
            time.sleep(LINGER_SECONDS)
            with self.lock:
                self.lingers = False
                self.channel.close_sends()
            # The next call of the program meets the same fault.
            with contextlib.suppress(ConnectionLost):
                self.flush()

    # The end

    def _lost(self, cause: OSError | None) -> ConnectionLost:
        with self.lock:
            reason = None if cause is None else cause.strerror or cause
            return self.channel.lose(hung_up(self.channel.description, reason))

    def _hang_up(self) -> None:
        # The other side may have been faster.
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection; waiting calls in other threads end with an error."""
        with self.lock:
            self.channel.lose(f"the connection to {self.channel.description} was closed")
            self._arrived.notify_all()
        self._hang_up()
        self._linger_begins.set()
        if self._lingerer is not None and self._lingerer is not threading.current_thread():
            self._lingerer.join()
        self._socket.close()


def _poll(sock: socket.socket, events: int) -> select.poll:
    poll = select.poll()
    poll.register(sock, events)
    return poll


def open_transport(
    address: Address, channel: Channel, timeout: float | None
) -> "Transport | RemoteTransport":
    """Connect to a queue manager.

    Raises:
        ConnectionLost: nobody answers there.
    """
    if isinstance(address, RpcAddress):
        return _remote_transport(address, channel, timeout)
    try:
        if isinstance(address, TcpAddress):
            sock, tls = _connect_tcp(address, timeout)
        else:
            sock, tls = _connect_unix(address, timeout), None
    except OSError as exc:
        raise nobody_answers(address, exc) from exc
    return Transport(sock, channel, tls)


def _connect_unix(address: UnixAddress, timeout: float | None) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout)
        sock.connect(str(address.path))
    except BaseException:
        sock.close()
        raise
    return sock


def _connect_tcp(address: TcpAddress, timeout: float | None) -> "tuple[socket.socket, Tls]":
    from .tls import Tls

    sock = socket.create_connection((address.host, address.port), timeout)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        tls = Tls(address.context, address.host)
        tls.handshake(sock.sendall, lambda: sock.recv(READ_SIZE))
    except BaseException:
        sock.close()
        raise
    return sock, tls


def _remote_transport(
    address: RpcAddress, channel: Channel, timeout: float | None
) -> "RemoteTransport":
    # Only now: most programs need no RPC.
    from openmsmq.client.remote.blocking_transport import RemoteTransport
    from openmsmq.client.remote.channel import RemoteChannel

    assert isinstance(channel, RemoteChannel)  # noqa: S101 - its backend made it
    return RemoteTransport(address, channel, timeout)
