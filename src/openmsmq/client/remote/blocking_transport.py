"""The transport of a blocking client of remote read, for any number of threads.

Whoever waits for an answer and finds nobody reading reads for all. A thread of its own notices when
the server hangs up, gives back what the program holds for too long, and reads now and then,
whatever the program does.
"""

import contextlib
import select
import socket
import threading
import time
from math import ceil
from typing import Final

from openmsmq.client.blocking.turns import Turns, milliseconds
from openmsmq.net.streams import keep_alive

from .address import RpcAddress
from .channel import Link, RemoteChannel
from .links import TICK_SECONDS

# Larger pieces cost more in fresh memory than they save in calls.
READ_SIZE: Final = 64 * 1024
WRITER_POLL_SECONDS: Final = 0.1
# How long the end waits for another thread to stop reading.
STOP_SECONDS: Final = 1.0
# How long the thread leaves a connection that was closed to another thread that reads.
YIELD_SECONDS: Final = 0.01
# What tells that a server hung up, where the system can tell it without reading.
HANG_UP: Final = getattr(select, "POLLRDHUP", 0)


class LinkEnd:
    """The socket of one link.

    Attributes:
        bind_by: when the bind must be done, in monotonic time; None for ever.
    """

    __slots__ = ("bind_by", "link", "socket")

    def __init__(self, link: Link, sock: socket.socket, bind_by: float | None) -> None:
        self.link: Final = link
        self.socket: Final = sock
        self.bind_by: Final = bind_by


class Alarm:
    """Wakes up a thread that polls."""

    def __init__(self) -> None:
        self._bell, self._ear = socket.socketpair()
        self._bell.setblocking(False)
        self._ear.setblocking(False)
        self.number: Final = self._ear.fileno()

    def ring(self) -> None:
        # One byte is enough, and none is needed at the end.
        with contextlib.suppress(OSError):
            self._bell.send(b"\0")

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self._ear.recv(READ_SIZE)

    def close(self) -> None:
        self._bell.close()
        self._ear.close()


class RemoteTransport(Turns[RemoteChannel]):
    """Runs what a driver asks of a channel with several connections; `lock` guards the channel."""

    lingers: Final = True

    def __init__(self, address: RpcAddress, channel: RemoteChannel, timeout: float | None) -> None:
        super().__init__(channel)
        self._host = address.host
        self._timeout = timeout
        # Whoever has it opens links and writes.
        self._write_lock = threading.RLock()
        self._ends: dict[int, LinkEnd] = {}
        # The thread that reads, and the one that watches.
        self._poll, self._alarm = select.poll(), Alarm()
        self._poll.register(self._alarm.number, select.POLLIN)
        self._hang_ups, self._watch_alarm = select.poll(), Alarm()
        self._hang_ups.register(self._watch_alarm.number, select.POLLIN)
        self._closed = threading.Event()
        self._thread = threading.Thread(
            target=self._watch, name="openmsmq-remote-read", daemon=True
        )
        self._thread.start()

    # Waiting for answers

    def _poll_for(self, seconds: float | None) -> list[tuple[int, int]]:
        """Wait no longer than a bind may take."""
        for end in list(self._ends.values()):
            if end.link.bound is not None and end.bind_by is not None:
                remaining = max(end.bind_by - time.monotonic(), 0.0)
                seconds = remaining if seconds is None else min(seconds, remaining)
        return self._poll.poll(milliseconds(seconds))

    def _hang_up(self) -> None:
        # The thread that watches closes the links.
        self._watch_alarm.ring()

    def _read(self, came: list[tuple[int, int]]) -> bool:
        """Take the bytes that came; say whether there were any."""
        happened = False
        for number, events in came:
            end = self._ends.get(number)
            if end is None:
                self._alarm.stop()
            elif events & ~select.POLLOUT:
                happened = True
                self._receive(end)
        self._check_binds()
        return happened

    def _receive(self, end: LinkEnd) -> None:
        try:
            data = end.socket.recv(READ_SIZE)
        except BlockingIOError:
            return
        except OSError as exc:
            self._lose(end, exc.strerror or str(exc))
            return
        if not data:
            self._lose(end, "the server closed the connection")
            return
        with self.lock:
            self.channel.receive(end.link, data)

    def _check_binds(self) -> None:
        now = time.monotonic()
        for end in list(self._ends.values()):
            if end.link.bound is not None and end.bind_by is not None and end.bind_by <= now:
                self._lose(end, self._no_answer(end.link))

    def _no_answer(self, link: Link) -> str:
        return f"port {link.port}: no answer in {self._timeout:g} seconds"

    # Writing

    def flush(self) -> None:
        """Open and close links, and write everything that was posted."""
        try:
            while self._has_output():
                with self._write_lock:
                    self._open_links()
                    for end in list(self._ends.values()):
                        self._write(end)
        except BaseException:
            self.lose_track()
            raise

    def _has_output(self) -> bool:
        if self.channel.new_links:
            return True
        for end in list(self._ends.values()):
            if end.link.closing or end.link.connection.has_output:
                return True
        return False

    def _open_links(self) -> None:
        new_links = self.channel.new_links
        while new_links:
            link = new_links.popleft()
            try:
                sock = socket.create_connection((self._host, int(link.port)), self._timeout)
            except TimeoutError:
                self._lose_link(link, self._no_answer(link))
            except OSError as exc:
                self._lose_link(link, f"port {link.port}: {exc.strerror or exc}")
            else:
                self._add(link, sock)

    def _add(self, link: Link, sock: socket.socket) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        keep_alive(sock)
        bind_by = None if self._timeout is None else time.monotonic() + self._timeout
        self._ends[sock.fileno()] = LinkEnd(link, sock, bind_by)
        self._poll.register(sock, select.POLLIN)
        self._hang_ups.register(sock, HANG_UP)
        self._alarm.ring()
        self._watch_alarm.ring()

    def _write(self, end: LinkEnd) -> None:
        link = end.link
        with self.lock:
            parts = link.connection.data_to_send()
        unsent = memoryview(b"".join(parts))
        try:
            while unsent:
                try:
                    unsent = unsent[end.socket.send(unsent) :]
                except BlockingIOError:
                    if self._closed.is_set():
                        break
                    self._wait_writable(end)
        except OSError as exc:
            self._lose(end, exc.strerror or str(exc))
        if link.closing:
            self._lose(end, "the connection was closed")

    def _wait_writable(self, end: LinkEnd) -> None:
        """Let the server take what was written; it may wait for its answers to be read."""
        with self.lock:
            reads = not self._reading
            if reads:
                self._reading = True
        number = end.socket.fileno()
        if not reads:
            writable = select.poll()
            writable.register(number, select.POLLOUT)
            writable.poll(ceil(WRITER_POLL_SECONDS * 1000))
            return
        try:
            self._poll.register(number, select.POLLIN | select.POLLOUT)
            self._read(self._poll_for(WRITER_POLL_SECONDS))
        finally:
            if number in self._ends:
                self._poll.register(number, select.POLLIN)
            self._stop_reading()

    # Time

    def _watch(self) -> None:
        while not self._closed.is_set():
            events = self._hang_ups.poll(ceil(TICK_SECONDS * 1000))
            self._watch_alarm.stop()
            with self.lock:
                if self.channel.fault is None:
                    self.channel.on_timer(time.monotonic())
            self.flush()
            while self._read_what_came():
                self.flush()
            if any(number in self._ends for number, _ in events):
                time.sleep(YIELD_SECONDS)

    def _read_what_came(self) -> bool:
        """Read without waiting, unless another thread reads; say whether anything came."""
        with self.lock:
            if self._reading:
                return False
            self._reading = True
        try:
            return self._read(self._poll.poll(0))
        finally:
            self._stop_reading()

    def linger(self) -> None:
        """Nothing is sent."""

    # The end

    def _lose(self, end: LinkEnd, reason: str) -> None:
        """A link is gone."""
        number = end.socket.fileno()
        if self._ends.pop(number, None) is None:
            return
        self._poll.unregister(number)
        self._hang_ups.unregister(number)
        with contextlib.suppress(OSError):
            # A thread that polls notices.
            end.socket.shutdown(socket.SHUT_RDWR)
        end.socket.close()
        self._lose_link(end.link, reason)

    def _lose_link(self, link: Link, reason: str) -> None:
        with self.lock:
            self.channel.lose_link(link, reason)
            self._arrived.notify_all()

    def close(self) -> None:
        """Hang up; waiting calls in other threads end with an error."""
        self.flush()
        self._closed.set()
        with self.lock:
            self.channel.lose(f"the connection to {self.channel.description} was closed")
            self.channel.new_links.clear()
            self._arrived.notify_all()
        self.flush()
        self._alarm.ring()
        self._watch_alarm.ring()
        if self._thread is not threading.current_thread():
            self._thread.join()
            with self.lock:
                self._arrived.wait_for(lambda: not self._reading, STOP_SECONDS)
        self._alarm.close()
        self._watch_alarm.close()
