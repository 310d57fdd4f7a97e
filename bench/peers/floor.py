"""Not a product: the least that a queue manager in Python has to do, measured as one more peer.

One uvloop process, one queue, frames of a length and an operation. Express messages live in a
deque. Durable ones are appended to one journal; a thread writes and syncs whatever came together
during the last sync, and only then are they confirmed and delivered. Removals go into the same
journal without being waited for. There are no properties, no checks, no identities, no
transactions: it shows how high the ceiling of the approach is on this machine.

    python -m bench.peers.floor HOST:PORT DIRECTORY
"""

import asyncio
import os
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any, Final

CREDIT: Final = 1000
DELIVERED_TOGETHER: Final = 256
BUFFER_SIZE: Final = 256 * 1024
_HEAD: Final = struct.Struct("<IB")
_COUNT: Final = struct.Struct("<I")


class Operation(IntEnum):
    EXPRESS = 1
    DURABLE = 2
    CONFIRM = 3
    SUBSCRIBE = 4
    MESSAGE = 5
    ACKNOWLEDGE = 6


def frame(operation: int, body: bytes = b"") -> bytes:
    return _HEAD.pack(len(body), operation) + body


def split(data: bytes) -> tuple[list[bytes], bytes]:
    """The bodies of the whole frames, and the rest."""
    bodies = []
    at, end = 0, len(data)
    while end - at >= _HEAD.size:
        stop = at + _HEAD.size + _HEAD.unpack_from(data, at)[0]
        if stop > end:
            break
        bodies.append(data[at + _HEAD.size : stop])
        at = stop
    return bodies, data[at:]


class Journal:
    """One file that grows, written by one thread."""

    def __init__(self, path: Path, loop: asyncio.AbstractEventLoop) -> None:
        self._file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        self._loop = loop
        # Both threads use it, so nothing may swap it under the other.
        self._work: deque[tuple[list[bytes], Callable[[], None] | None]] = deque()
        self._wake = threading.Event()

    def recover(self) -> deque[bytes]:
        live: deque[bytes] = deque()
        rest = b""
        while data := os.read(self._file, 1 << 20):
            data, at = rest + data, 0
            while len(data) - at >= _HEAD.size:
                size, operation = _HEAD.unpack_from(data, at)
                start, stop = at + _HEAD.size, at + _HEAD.size + size
                if stop > len(data):
                    break
                if operation == Operation.DURABLE:
                    live.append(data[start:stop])
                else:
                    for _ in range(_COUNT.unpack_from(data, start)[0]):
                        live.popleft()
                at = stop
            rest = data[at:]
        threading.Thread(target=self._run, daemon=True).start()
        return live

    def add(self, parts: list[bytes], done: Callable[[], None] | None = None) -> None:
        self._work.append((parts, done))
        self._wake.set()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            work = [self._work.popleft() for _ in range(len(self._work))]
            os.write(self._file, b"".join([part for parts, _ in work for part in parts]))
            callbacks = [done for _, done in work if done is not None]
            if callbacks:
                os.fdatasync(self._file)
                self._loop.call_soon_threadsafe(_call_all, callbacks)


def _call_all(callbacks: list[Callable[[], None]]) -> None:
    for callback in callbacks:
        callback()


class Queue:
    """Messages, and who reads them."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.ready = journal.recover()
        self.reader: Session | None = None

    def deliver(self) -> None:
        reader = self.reader
        while self.ready and reader is not None and reader.credit > 0 and not reader.full:
            count = min(len(self.ready), reader.credit, DELIVERED_TOGETHER)
            take = self.ready.popleft
            out = []
            for _ in range(count):
                body = take()
                out.append(_HEAD.pack(len(body), Operation.MESSAGE))
                out.append(body)
                if reader.acknowledges:
                    reader.unacknowledged.append(body)
            if reader.acknowledges:
                reader.credit -= count
            reader.transport.write(b"".join(out))


class Session(asyncio.BufferedProtocol):
    """One client."""

    transport: Any

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._view = memoryview(bytearray(BUFFER_SIZE))
        self._filled = 0
        self.full = False
        self.credit = 0
        self.acknowledges = False
        self.unacknowledged: deque[bytes] = deque()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.transport.set_write_buffer_limits(1 << 20)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        if self._queue.reader is self:
            self._queue.reader = None
            self._queue.ready.extendleft(reversed(self.unacknowledged))

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        self._queue.deliver()

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - asyncio's signature
        return self._view[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        end, at, view, unpack = self._filled + nbytes, 0, self._view, _HEAD.unpack_from
        express: list[bytes] = []
        durable: list[bytes] = []
        while end - at >= _HEAD.size:
            size, operation = unpack(view, at)
            stop = at + _HEAD.size + size
            if stop > end:
                break
            if operation == Operation.EXPRESS:
                express.append(bytes(view[at + _HEAD.size : stop]))
            elif operation == Operation.DURABLE:
                durable.append(bytes(view[at:stop]))
            else:
                self._control(operation, bytes(view[at + _HEAD.size : stop]))
            at = stop
        self._filled = end - at
        view[: self._filled] = bytes(view[at:end])
        if express:
            self._queue.ready.extend(express)
            self._queue.deliver()
        if durable:
            self._queue.journal.add(durable, lambda: self._stored(durable))

    def _stored(self, frames: list[bytes]) -> None:
        self.transport.write(frame(Operation.CONFIRM, _COUNT.pack(len(frames))))
        self._queue.ready.extend([each[_HEAD.size :] for each in frames])
        self._queue.deliver()

    def _control(self, operation: int, body: bytes) -> None:
        queue = self._queue
        if operation == Operation.SUBSCRIBE:
            self.acknowledges, self.credit, queue.reader = bool(body), CREDIT, self
        else:
            count = _COUNT.unpack(body)[0]
            for _ in range(count):
                self.unacknowledged.popleft()
            self.credit += count
            queue.journal.add([frame(Operation.ACKNOWLEDGE, body)])
        queue.deliver()


async def serve(address: str, directory: Path) -> None:
    loop = asyncio.get_running_loop()
    queue = Queue(Journal(directory / "journal", loop))
    host, _, port = address.rpartition(":")
    server = await loop.create_server(lambda: Session(queue), host, int(port))
    await server.serve_forever()


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(sys.argv[1], Path(sys.argv[2])))
