"""Queues in memory for a `NaiveRpcServer`: reads in two steps, with locks, cursors and cancels."""

import struct
import threading
import time
from collections.abc import Callable
from itertools import count
from typing import Final, NamedTuple
from uuid import uuid4

from tests.interop.naive_peer import user_message
from tests.interop.naive_rpc_server import Connection, Fault, HangUp

QUEUE_NOT_FOUND, IO_TIMEOUT, MESSAGE_NOT_FOUND = 0xC00E0003, 0xC00E001B, 0xC00E0088
RECEIVE, PEEK_CURRENT, PEEK_NEXT = 0, 0x80000000, 0x80000001
ACK: Final = 2
# How often a read that waits looks whether its client is still there.
LOOK_SECONDS: Final = 0.02
SEQUENCE_MASK: Final = (1 << 56) - 1


class Failed(Exception):
    """A call answers with a failure."""

    def __init__(self, result: int) -> None:
        super().__init__(f"{result:#x}")
        self.result = result


class Stored:
    """A message in a queue."""

    def __init__(self, sequence: int, packet: bytes) -> None:
        self.sequence = sequence
        self.packet = packet
        self.held = False


class Opened:
    """An open queue: its cursors with their positions, and what is locked by which read."""

    def __init__(self, queue: list[Stored], group: int) -> None:
        self.queue = queue
        self.group = group
        self.number = uuid4().int & 0x7FFFFFFF | 1
        self.cursors: dict[int, int] = {}
        # Cursors that went past the last message: the next one that comes is theirs.
        self.unread: set[int] = set()
        self.held: dict[object, Stored] = {}
        self.cancelled: set[int] = set()


class Reading(NamedTuple):
    """The parameters of a read."""

    action: int
    timeout: int
    request: int
    cursor: int
    lookup_id: int = 0

    @property
    def receives(self) -> bool:
        return self.action == RECEIVE or self.action & 0x40000020 == 0x40000020


class NaiveQueues:
    """The queues of a server.

    Attributes:
        ends: the acks and nacks that came, in their order.
        hang_up_after_ends: how many of the next ends take effect but are not answered.
        purge_result: what a purge answers; nothing is purged unless it is 0.
        purge_throws: whether it answers that as a fault.
    """

    def __init__(self) -> None:
        self.ends: list[int] = []
        self.hang_up_after_ends = 0
        self.purge_result = 0
        self.purge_throws = False
        self._changed = threading.Condition()
        self._queues: dict[str, list[Stored]] = {}
        self._sequence = count(1)
        self._cursors = count(1)
        self._contexts: dict[bytes, Opened] = {}
        self._numbers: dict[int, Opened] = {}
        self._claims: dict[bytes, Opened] = {}

    # The queues

    def create(self, queue: str) -> None:
        self._queues[rf"private$\{queue}"] = []

    def put(self, queue: str, *bodies: bytes, life: int = 0xFFFFFFFF) -> None:
        """Add messages; `life` is their TimeToReachQueue in seconds."""
        with self._changed:
            for body in bodies:
                number = next(self._sequence)
                packet = bytearray(user_message(rf"TCP:127.0.0.1\private$\{queue}", body, number))
                # Without SessionHeader.
                packet[2] &= ~0x10
                packet[12:16] = struct.pack("<I", life)
                self._queues[rf"private$\{queue}"].append(Stored(number, bytes(packet)))
            self._changed.notify_all()

    def counts(self, queue: str) -> tuple[int, int]:
        """How many messages are there, and how many of them are locked."""
        with self._changed:
            messages = self._queues.get(rf"private$\{queue}", [])
            return len(messages), sum(message.held for message in messages)

    def rundown(self, group: int) -> None:
        """The last connection of a group is gone: its handles are closed, its locks given back."""
        with self._changed:
            for contexts in (self._contexts, self._claims):
                for context in [key for key, each in contexts.items() if each.group == group]:
                    self._close(contexts.pop(context))

    def _close(self, opened: Opened) -> None:
        for stored in opened.held.values():
            stored.held = False
        opened.held.clear()
        self._changed.notify_all()

    def _open(self, stub: bytes, at: int, group: int, *, make: bool = False) -> Opened:
        """The queue of a QUEUE_FORMAT with a direct name."""
        kind, discriminant = stub[at], stub[at + 4]
        assert kind == discriminant
        assert kind in (3, 8)
        most, offset, length = struct.unpack_from("<III", stub, at + 12)
        assert (most, offset) == (length, 0)
        text = stub[at + 24 : at + 24 + 2 * length].decode("utf-16-le")
        assert text.endswith("\0")
        name = text[:-1].partition("\\")[2]
        with self._changed:
            if make:
                self._queues.setdefault(name, [])
            if name not in self._queues:
                raise Failed(QUEUE_NOT_FOUND)
            return Opened(self._queues[name], group)

    # Reads

    def _read(self, opened: Opened, reading: Reading, caller: Connection, cancelled: int) -> Stored:
        end = time.monotonic() + min(reading.timeout / 1000, 60)
        with self._changed:
            while True:
                # First: the cursor of a cancelled read may be closed already.
                if reading.request in opened.cancelled:
                    opened.cancelled.discard(reading.request)
                    raise Failed(cancelled)
                found = self._find(opened, reading)
                if found is not None:
                    found.held = found.held or reading.receives
                    if reading.cursor:
                        opened.cursors[reading.cursor] = found.sequence
                        opened.unread.discard(reading.cursor)
                    return found
                if reading.action & 0x40000000:
                    raise Failed(MESSAGE_NOT_FOUND)
                if caller.is_gone:
                    raise HangUp
                left = end - time.monotonic()
                if left <= 0:
                    opened.unread.add(reading.cursor)
                    raise Failed(IO_TIMEOUT)
                self._changed.wait(min(left, LOOK_SECONDS))

    def _find(self, opened: Opened, reading: Reading) -> Stored | None:
        action, number = reading.action, reading.lookup_id & SEQUENCE_MASK
        position = opened.cursors[reading.cursor] if reading.cursor else 0
        # Where a cursor looks that stands on a message, or past the last one.
        here = position + (reading.cursor != 0 and reading.cursor in opened.unread)
        tests: dict[int, Callable[[int], bool]] = {
            RECEIVE: lambda sequence: sequence >= here,
            PEEK_CURRENT: lambda sequence: sequence >= here,
            PEEK_NEXT: lambda sequence: sequence > position,
            0x40000000: lambda sequence: sequence == number,
            0x40000001: lambda sequence: sequence > number,
            0x40000002: lambda sequence: sequence < number,
        }
        test = tests[action & 0x4000000F if action & 0x40000000 else action]
        fitting = [each for each in opened.queue if not each.held and test(each.sequence)]
        if not fitting:
            return None
        return fitting[-1] if action & 0x4000000F == 0x40000002 else fitting[0]

    def _end(self, opened: Opened, key: object, ack: int) -> None:
        with self._changed:
            stored = opened.held.pop(key)
            self.ends.append(ack)
            if ack == ACK:
                opened.queue.remove(stored)
            stored.held = False
            self._changed.notify_all()
            if self.hang_up_after_ends:
                self.hang_up_after_ends -= 1
                raise HangUp

    def _cancel(self, opened: Opened, request: int) -> None:
        with self._changed:
            opened.cancelled.add(request)
            self._changed.notify_all()

    def _new_cursor(self, opened: Opened) -> bytes:
        cursor = next(self._cursors)
        opened.cursors[cursor] = 0
        return struct.pack("<II", cursor, 0)

    def _purge(self, opened: Opened) -> bytes:
        if self.purge_result:
            if self.purge_throws:
                raise Fault(self.purge_result)
            return struct.pack("<I", self.purge_result)
        with self._changed:
            opened.queue[:] = [each for each in opened.queue if each.held]
        return bytes(4)
