"""`openmsmq decode --stats`: what a capture has, before anybody looks at single packets."""

from dataclasses import dataclass, field
from typing import Any, Final

import typer

from openmsmq.cli.output import Column, print_json, print_table
from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import count_text, size_text
from openmsmq.wire.codes.message_class import is_acknowledgment
from openmsmq.wire.dissect import show_name
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.order_ack import OrderAck, recognize_ack
from openmsmq.wire.scalars import MessageIdentifier, TxSequenceID

from .packet_text import byte_count, iso_time
from .source import Notice, Packet

# Messages whose acknowledgment is awaited, and queues: what a capture may make this keep.
MAX_AWAITED: Final = 1_000_000
MAX_QUEUES: Final = 10_000
_OTHER: Final = "others"
_MESSAGES: Final = frozenset({"UserMessage", "OrderAck", "FinalAck"})


@dataclass(slots=True)
class _Count:
    """How many packets or messages, of how many bytes."""

    count: int = 0
    size: int = 0

    def add(self, size: int) -> None:
        self.count += 1
        self.size += size


@dataclass(slots=True)
class _Queue(_Count):
    """Messages to one queue; `awaited` of them asked for acknowledgments."""

    awaited: int = 0
    unacknowledged: int = 0


@dataclass(slots=True)
class _Span:
    """The first and the last time at which something was seen."""

    first: int | None = None
    last: int | None = None

    def add(self, time: int | None) -> None:
        if time is not None:
            self.first = time if self.first is None else min(self.first, time)
            self.last = time if self.last is None else max(self.last, time)

    def texts(self) -> tuple[str | None, str | None]:
        """Both moments, None where the input has no times."""
        first, last = (None if time is None else iso_time(time) for time in (self.first, self.last))
        return first, last


@dataclass(slots=True)
class _Connection(_Count):
    """One TCP connection; who began it, as far as its first packet tells."""

    ends: str = ""
    span: _Span = field(default_factory=_Span)


@dataclass(slots=True)
class _Sequence:
    """A sequence of transactional messages: the last that was sent, and acknowledged in order."""

    sent: int = 0
    acknowledged: int = 0


class StatsOutput:
    """Counts packets, and shows the counts at the end."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._all = _Count()
        self._span = _Span()
        self._malformed = 0
        self._missing = 0
        self._kinds: dict[str, _Count] = {}
        self._queues: dict[str, _Queue] = {}
        self._connections: dict[int, _Connection] = {}
        self._sequences: dict[TxSequenceID, _Sequence] = {}
        self._awaited: dict[MessageIdentifier, str] = {}

    def packet(self, number: int, packet: Packet) -> MalformedPacket | None:
        """Count one."""
        del number
        name, _, fault = packet.summary()
        origin, size = packet.origin, len(packet.data)
        self._all.add(size)
        self._span.add(origin.time)
        self._malformed += fault is not None
        self._kinds.setdefault(name, _Count()).add(size)
        if origin.stream is not None:
            connection = self._connections.get(origin.stream)
            if connection is None:
                connection = _Connection(ends=str(origin.flow))
                self._connections[origin.stream] = connection
            connection.add(size)
            connection.span.add(origin.time)
        message = packet.message() if name in _MESSAGES else None
        if message is not None:
            self._add_message(name, message)
        return fault

    def notice(self, notice: Notice) -> None:
        """Count what is missing."""
        self._missing += notice.missing

    def finish(self) -> None:
        """Show the counts."""
        for name in self._awaited.values():
            self._queues[name].unacknowledged += 1
        if self._as_json:
            print_json(self._object())
        else:
            self._show()

    def _add_message(self, name: str, message: UserMessage) -> None:
        if name == "OrderAck":
            ack = recognize_ack(message)
            if isinstance(ack, OrderAck):
                sequence = self._sequences.setdefault(ack.tx_sequence_id, _Sequence())
                sequence.acknowledged = max(sequence.acknowledged, ack.tx_sequence_number)
            return
        if name == "FinalAck":
            return
        if is_acknowledgment(message.message_class):
            about = MessageIdentifier.parse(message.correlation_id)[0]
            self._awaited.pop(about, None)
        queue = self._queue(message)
        self._queues[queue].add(message.message_size)
        if message.acknowledgments:
            self._queues[queue].awaited += 1
            if len(self._awaited) < MAX_AWAITED:
                self._awaited[message.identifier] = queue
        if message.tx_sequence_id is not None:
            sequence = self._sequences.setdefault(message.tx_sequence_id, _Sequence())
            sequence.sent = max(sequence.sent, message.tx_sequence_number)

    def _queue(self, message: UserMessage) -> str:
        address = message.destination_queue
        name = "" if address is None else show_name(address).text
        if name not in self._queues and len(self._queues) >= MAX_QUEUES:
            name = _OTHER
        self._queues.setdefault(name, _Queue())
        return name

    # Any: JSON is free-form.
    def _object(self) -> dict[str, Any]:
        first, last = self._span.texts()
        return {
            "packets": self._all.count,
            "bytes": self._all.size,
            "first_time": first,
            "last_time": last,
            "malformed": self._malformed,
            "missing_bytes": self._missing,
            "kinds": [
                {"packet": name, "packets": counts.count, "bytes": counts.size}
                for name, counts in self._kinds.items()
            ],
            "queues": [
                {
                    "queue": name,
                    "messages": counts.count,
                    "body_bytes": counts.size,
                    "ask_for_acknowledgment": counts.awaited,
                    "unacknowledged": counts.unacknowledged,
                }
                for name, counts in self._queues.items()
            ],
            "connections": [
                {
                    "stream": number,
                    "ends": counts.ends,
                    "first_time": counts.span.texts()[0],
                    "last_time": counts.span.texts()[1],
                    "packets": counts.count,
                    "bytes": counts.size,
                }
                for number, counts in self._connections.items()
            ],
            "sequences": [
                {
                    "sequence": f"{sequence.ordinal}/{sequence.time_stamp}",
                    "sent_up_to": counts.sent,
                    "acknowledged_up_to": counts.acknowledged,
                }
                for sequence, counts in self._sequences.items()
            ],
        }

    def _show(self) -> None:
        document = self._object()
        first, last = document["first_time"], document["last_time"]
        when = "" if first is None else f", {first} to {last}"
        typer.echo(
            f"{count_text(self._all.count, 'packet')}, {size_text(self._all.size)}{when}; "
            f"{count_text(self._malformed)} malformed, {byte_count(self._missing)} missing"
        )
        for table in ("kinds", "queues", "connections", "sequences"):
            rows: list[dict[str, Any]] = document[table]
            if rows:
                names = list(rows[0])
                typer.echo()
                print_table(
                    [
                        Column(name.replace("_", " ").capitalize(), right=isinstance(value, int))
                        for name, value in rows[0].items()
                    ],
                    [[_cell(row[name], name) for name in names] for row in rows],
                )


def _cell(value: object, name: str) -> str:
    if isinstance(value, int):
        return size_text(value) if name.endswith("bytes") else count_text(value)
    return "-" if value is None else printable(str(value))
