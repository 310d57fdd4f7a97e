"""The calls of RemoteRead, qmcomm and qm2qm, for a `NaiveRpcServer`.

Like that server it is written from the published layouts alone.
"""

import struct
from collections.abc import Mapping
from typing import Final, NamedTuple
from uuid import UUID, uuid4

from tests.interop.naive_queues import (
    MESSAGE_NOT_FOUND,
    SEQUENCE_MASK,
    Failed,
    NaiveQueues,
    Opened,
    Reading,
)
from tests.interop.naive_rpc_server import Connection, Fault, Handler, Interfaces, padded

REMOTE_READ: Final = UUID("1a9134dd-7b39-45ba-ad88-44d01ca47f28")
QM2QM: Final = UUID("1088a980-eae5-11d0-8d9b-00a02453c337")
QMCOMM: Final = UUID("fdb3a030-065f-11d1-bb9b-00a024ea5525")
NULL: Final = bytes(20)
CONTEXT_MISMATCH: Final = 0x1C00001A
INVALID_PARAMETER, INVALID_HANDLE = 0xC00E0006, 0xC00E0007
# How a cancelled read ends: in RemoteRead, in qm2qm.
OPERATION_CANCELLED, INFORMATION_CANCELLED = 0xC00E0008, 0x400E03E9
ARRIVED: Final = 1_700_000_001


class Kind(NamedTuple):
    """What a server has.

    Attributes:
        remote_read: how many opnums of RemoteRead; 0 when it is not registered.
        extended: whether packets of RemoteRead have extension headers.
        version: the answer of RemoteQmGetVersion; None when there is neither opnum 8 nor 9 nor 10.
    """

    remote_read: int
    extended: bool
    version: tuple[int, int, int] | None


WINDOWS_7: Final = Kind(16, True, (6, 1, 7601))
WINDOWS_2003: Final = Kind(10, False, (5, 2, 3790))
MQQP_ONLY: Final = Kind(0, False, (5, 1, 2600))
WINDOWS_2000: Final = Kind(0, False, None)


def expiring(packet: bytes) -> bytes:
    """The packet with the time of expiry in place of TimeToReachQueue, counted from SentTime on."""
    (life,) = struct.unpack_from("<I", packet, 12)
    if life == 0xFFFFFFFF:
        return packet
    (sent,) = struct.unpack_from("<I", packet, 52)
    return packet[:12] + struct.pack("<I", sent + life) + packet[16:]


class NaiveCalls(NaiveQueues):
    """What a kind of server answers."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.kind = kind
        # Of qmcomm and RemoteRead, and of qm2qm.
        self.ports = [0, 0]
        self._pending: dict[bytes, Opened] = {}
        # How opnum 15 ends.
        self.refused_end = 0

    def interfaces(self) -> Interfaces:
        found = {QMCOMM: self._qmcomm(), QM2QM: self._qm2qm()}
        if self.kind.remote_read:
            found[REMOTE_READ] = self._remote_read()
        return found

    # RemoteRead

    def _context(self, stub: bytes) -> Opened:
        if stub[:20] not in self._contexts:
            raise Fault(CONTEXT_MISMATCH)
        return self._contexts[stub[:20]]

    def _remote_read(self) -> Mapping[int, Handler]:
        calls: dict[int, Handler] = {
            0: lambda _, __: struct.pack("<I", self.ports[0]),
            2: lambda stub, caller: self._rr_open(stub, caller)[0],
            3: self._rr_close,
            4: lambda stub, _: self._new_cursor(self._context(stub)),
            5: self._rr_close_cursor,
            6: lambda stub, _: self._purge(self._context(stub)),
            7: self._rr_start_receive,
            8: self._rr_cancel,
            9: self._rr_end_receive,
            10: self._rr_move,
            11: self._rr_open_for_move,
            # It takes part in no transaction: what it has sent is gone with the end.
            12: lambda _, __: bytes(4),
            13: self._rr_start_receive,
            14: lambda _, __: bytes(4),
            15: self._rr_end_in_transaction,
        }
        return {opnum: call for opnum, call in calls.items() if opnum < self.kind.remote_read}

    def _rr_open(
        self, stub: bytes, caller: Connection, *, move: bool = False
    ) -> tuple[bytes, Opened]:
        try:
            opened = self._open(stub, 0, caller.group, make=move)
        except Failed as exc:
            raise Fault(exc.result) from exc
        context = bytes(4) + uuid4().bytes
        with self._changed:
            self._contexts[context] = opened
            self._numbers[opened.number] = opened
        return context, opened

    def _rr_open_for_move(self, stub: bytes, caller: Connection) -> bytes:
        context, opened = self._rr_open(stub, caller, move=True)
        return struct.pack("<Q", opened.number) + context

    def _rr_close(self, stub: bytes, _: Connection) -> bytes:
        opened = self._context(stub)
        with self._changed:
            self._close(opened)
            del self._contexts[stub[:20]]
        return NULL + bytes(4)

    def _rr_close_cursor(self, stub: bytes, _: Connection) -> bytes:
        del self._context(stub).cursors[struct.unpack_from("<I", stub, 20)[0]]
        return bytes(4)

    def _rr_start_receive(self, stub: bytes, caller: Connection) -> bytes:
        opened = self._context(stub)
        lookup_id, cursor, action, timeout, request = struct.unpack_from("<QIIII", stub, 24)
        reading = Reading(action, timeout, request, cursor, lookup_id)
        try:
            stored = self._read(opened, reading, caller, OPERATION_CANCELLED)
        except Failed as exc:
            return bytes(24) + struct.pack("<I", exc.result)
        if reading.receives:
            opened.held[request] = stored
        packet = expiring(stored.packet)
        if self.kind.extended:
            packet += struct.pack("<IIBxxx", 12, 176, 0x12)
            packet += struct.pack("<I", 148) + bytes(144) + struct.pack("<I", 28) + bytes(24)
        answer = struct.pack("<IxxxxQIII", ARRIVED, stored.sequence, 1, 0x20000, 1)
        answer += struct.pack("<HxxIII", 0, len(packet), len(packet), 0x20004)
        return padded(answer + struct.pack("<I", len(packet)) + packet) + bytes(4)

    def _rr_cancel(self, stub: bytes, _: Connection) -> bytes:
        self._cancel(self._context(stub), struct.unpack_from("<I", stub, 20)[0])
        return bytes(4)

    def _rr_end_receive(self, stub: bytes, _: Connection) -> bytes:
        opened = self._context(stub)
        ack, request = struct.unpack_from("<II", stub, 20)
        if request not in opened.held:
            return struct.pack("<I", INVALID_HANDLE)
        self._end(opened, request, ack)
        return bytes(4)

    def _rr_end_in_transaction(self, stub: bytes, caller: Connection) -> bytes:
        answer = self._rr_end_receive(stub, caller)
        return struct.pack("<I", self.refused_end) if self.refused_end else answer

    def _rr_move(self, stub: bytes, _: Connection) -> bytes:
        source = self._context(stub)
        target, lookup_id = struct.unpack_from("<QQ", stub, 24)
        with self._changed:
            for stored in source.queue:
                if stored.sequence == lookup_id & SEQUENCE_MASK:
                    source.queue.remove(stored)
                    self._numbers[target].queue.append(stored)
                    return bytes(4)
        return struct.pack("<I", MESSAGE_NOT_FOUND)

    # qmcomm

    def _qmcomm(self) -> Mapping[int, Handler]:
        return {
            2: self._qmcomm_open,
            3: self._qmcomm_close,
            4: lambda stub, _: self._new_cursor(
                self._numbers[struct.unpack_from("<I", stub, 228)[0]]
            ),
            31: self._port,
        }

    def _port(self, stub: bytes, _: Connection) -> bytes:
        (kind,) = struct.unpack_from("<I", stub)
        return struct.pack("<I", self.ports[kind] if kind < 2 else 0)

    def _qmcomm_open(self, stub: bytes, caller: Connection) -> bytes:
        assert struct.unpack_from("<I", stub)[0]
        try:
            opened = self._open(stub, 4, caller.group)
        except Failed as exc:
            return bytes(32) + struct.pack("<I", exc.result)
        context = bytes(4) + uuid4().bytes
        with self._changed:
            self._claims[context] = self._numbers[opened.number] = opened
        return context + struct.pack("<IIII", opened.number, opened.number, opened.number, 0)

    def _qmcomm_close(self, stub: bytes, _: Connection) -> bytes:
        self._claims.pop(stub[:20])
        return NULL

    # qm2qm

    def _qm2qm(self) -> Mapping[int, Handler]:
        calls: dict[int, Handler] = {
            0: lambda stub, caller: self._qq_read(stub, 0, 0, caller, two=False),
            1: self._qq_end_receive,
            2: self._qq_open,
            3: self._rr_close,
            4: self._qq_close_cursor,
            5: self._qq_cancel,
            6: lambda stub, _: self._purge(self._numbers[struct.unpack_from("<I", stub)[0]]),
            7: self._port,
            8: lambda _, __: struct.pack("<BBH", *self.kind.version or ()),
            9: lambda stub, caller: self._qq_read(stub, 16, 0, caller, two=True),
            10: lambda stub, caller: self._qq_read(
                stub, 24, struct.unpack_from("<Q", stub)[0], caller, two=True
            ),
        }
        last = 7 if self.kind.version is None else 10
        return {opnum: call for opnum, call in calls.items() if opnum <= last}

    def _qq_open(self, stub: bytes, caller: Connection) -> bytes:
        number, queue, context_number = struct.unpack_from("<III", stub, 20)
        if not number == queue == context_number or number not in self._numbers:
            return NULL + struct.pack("<I", INVALID_PARAMETER)
        session = bytes(4) + uuid4().bytes
        with self._changed:
            opened = self._numbers[number]
            # The session has it now; the handle of qmcomm does not close it any more.
            opened.group = caller.group
            self._contexts[session] = opened
        return session + bytes(4)

    def _qq_read(
        self, stub: bytes, at: int, lookup_id: int, caller: Connection, *, two: bool
    ) -> bytes:
        number, cursor, action, timeout, size, queue, request = struct.unpack_from("<7I", stub, at)
        assert (number, size) == (queue, 0)
        opened = self._numbers[number]
        reading = Reading(action, timeout, request, cursor, lookup_id)
        context, packet, sequence, result = NULL, b"", 0, 0
        try:
            stored = self._read(opened, reading, caller, INFORMATION_CANCELLED)
        except Failed as exc:
            result = exc.result
        else:
            packet, sequence = stored.packet, stored.sequence
            if reading.receives:
                context = bytes(4) + uuid4().bytes
                opened.held[context] = stored
                self._pending[context] = opened
        arrived = ARRIVED if packet else 0
        answer = context
        if two:
            answer = padded(answer, 8) + struct.pack("<IxxxxQ", 0x20000, sequence)
        answer += struct.pack("<5I", number, cursor, action, timeout, len(packet))
        answer += struct.pack("<IIIIHxxI", queue, request, 1, arrived, 0, 0x20004 if packet else 0)
        if packet:
            answer += struct.pack("<III", len(packet), 0, len(packet)) + packet
        return padded(answer) + struct.pack("<I", result)

    def _qq_end_receive(self, stub: bytes, _: Connection) -> bytes:
        opened = self._pending.pop(stub[:20])
        self._end(opened, stub[:20], struct.unpack_from("<I", stub, 20)[0])
        return NULL + bytes(4)

    def _qq_close_cursor(self, stub: bytes, _: Connection) -> bytes:
        number, cursor = struct.unpack_from("<II", stub)
        del self._numbers[number].cursors[cursor]
        return bytes(4)

    def _qq_cancel(self, stub: bytes, _: Connection) -> bytes:
        number, _queue, request = struct.unpack_from("<III", stub)
        self._cancel(self._numbers[number], request)
        return bytes(4)
