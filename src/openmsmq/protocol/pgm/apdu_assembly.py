"""APDUs from packets that come in order (RFC 3208, 9.2.3)."""

from openmsmq.wire.pgm import DataPacket, Fragment

from .counters import ReceiverCounters


class ApduAssembly:
    """The APDU of one source whose fragments are arriving."""

    __slots__ = ("_counters", "_max_bytes", "_parts", "_size", "_start")

    def __init__(self, max_bytes: int, counters: ReceiverCounters) -> None:
        self._max_bytes = max_bytes
        self._counters = counters
        self._start: Fragment | None = None
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, packet: DataPacket) -> bytes | None:
        """Add the next packet in order; return the APDU that it completes."""
        fragment = packet.options.fragment
        if fragment is None:
            self.interrupt()
            return packet.data
        if not fragment.offset:
            self.interrupt()
            # A fragment behind a start that is refused finds nothing to continue.
            if self._is_start(packet, fragment):
                self._start = fragment
        elif not self._continues(fragment):
            self.interrupt()
        start = self._start
        if start is None or not packet.data or self._size + len(packet.data) > start.length:
            self._counters.bad_fragments += 1
            self.interrupt()
            return None
        self._parts.append(packet.data)
        self._size += len(packet.data)
        if self._size < start.length:
            return None
        apdu = b"".join(self._parts)
        self._clear()
        return apdu

    def _is_start(self, packet: DataPacket, fragment: Fragment) -> bool:
        return (
            fragment.length <= self._max_bytes
            and fragment.first_sequence_number == packet.sequence_number
        )

    def _continues(self, fragment: Fragment) -> bool:
        start = self._start
        return (
            start is not None
            and fragment.first_sequence_number == start.first_sequence_number
            and fragment.length == start.length
            and fragment.offset == self._size
        )

    def interrupt(self) -> None:
        """The next packet does not continue the APDU: it is lost."""
        if self._start is not None:
            self._counters.lost_apdus += 1
        self._clear()

    def _clear(self) -> None:
        self._start = None
        self._parts.clear()
        self._size = 0
