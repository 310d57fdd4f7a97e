"""Packets from rows: values common to many rows are encoded once."""

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple, Protocol

import pyarrow as pa

from openmsmq.client.logic.packet_templates import Family
from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.message import DELIVERY_WORDS, Message, acknowledge_flags, correlation_bytes
from openmsmq.wire.codes.message_enums import Journal
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.body_type import BodyType
from openmsmq.wire.message.message_properties_header import encode_label
from openmsmq.wire.packets.base_header import INFINITE

from .write_columns import WriteColumns

# Templates that are kept: rows may differ in every property.
MAX_FAMILIES: Final = 4096
_WIDE: Final = frozenset((BodyType.VT_BSTR, BodyType.VT_LPWSTR))
_NARROW: Final = frozenset((BodyType.VT_EMPTY, BodyType.VT_LPSTR))
# One row of these columns makes one message; all others together choose the template.
_OWN: Final = ("queue", "transactional", "body", "label", "correlation_id", "raw_packet")
_MAX_U32: Final = (1 << 32) - 1
_MAX_U16: Final = (1 << 16) - 1
_MAX_PRIORITY: Final = 7
_ALL_ACKNOWLEDGMENTS: Final = 0x0F
_ALL_JOURNALS: Final = int(Journal.DEADLETTER | Journal.JOURNAL)


class WrongQueue(QueueError):
    """A name that no message can be sent to."""


class Place(NamedTuple):
    """Where messages go, and as what.

    Attributes:
        transactional: what messages for another machine are; None for a local queue, which says
            so itself, and where a row does not say.
    """

    name: str
    transactional: bool | None = None


class Target(Protocol):
    """A queue that messages are encoded for."""

    @property
    def place(self) -> Place:
        """Its name as the user gave it; rows that differ in nothing else have the same one."""

    @property
    def builder(self) -> PacketBuilder:
        """What makes packets for it."""


class RowFault(NamedTuple):
    """Why a row cannot be sent, by its place in the batch."""

    row: int
    column: str
    reason: str


class EncodedRows(NamedTuple):
    """The packets of one batch for each place in the order of the rows, and the other rows."""

    packets: dict[Place, list[bytes]]
    faults: list[RowFault]


class RowEncoder:
    """Encodes batches of rows into packets.

    Args:
        columns: which column is what.
        target: opens a queue by name and by what a row says that its message is, or raises a
            `WrongQueue`.
        queue: where rows go that name no queue.
        body_encoding: of bodies that are strings.
    """

    def __init__(
        self,
        columns: WriteColumns,
        target: Callable[[str, bool | None], Target],
        *,
        queue: str | None,
        body_encoding: str = "utf-16",
    ) -> None:
        self._columns = columns
        self._target = target
        self._queue = queue
        self._text_type = BodyType.VT_BSTR if body_encoding == "utf-16" else BodyType.VT_EMPTY
        self._shared = [prop for prop in columns.names if prop not in _OWN]
        self._families: dict[tuple[str, bool | None, tuple[Any, ...]], tuple[Place, Family]] = {}

    def encode(self, batch: pa.RecordBatch) -> EncodedRows:
        """The packets of the rows of a batch."""
        unread: dict[int, RowFault] = {}
        lists = {
            prop: _values(batch.column(batch.schema.get_field_index(name)), name, unread)
            for prop, name in self._columns.names.items()
        }
        encoded = EncodedRows({}, [])
        packets = encoded.packets
        families = self._families
        for row, own in enumerate(self._rows(lists, batch.num_rows)):
            queue, transactional, shared, body, label, correlation_id, raw_packet = own
            name = queue or self._queue or ""
            try:
                if unread and row in unread:
                    raise _Unfit(*unread[row][1:])
                if raw_packet is not None:
                    place, packet = self._again(name, transactional, raw_packet)
                else:
                    key = (name, transactional, shared)
                    place, family = families.get(key) or self._family(*key)
                    packet = family.build(body, label or "", correlation_id)
            except _Unfit as exc:
                encoded.faults.append(RowFault(row, exc.column, exc.reason))
            except ValueError as exc:
                encoded.faults.append(self._blame(row, label or "", correlation_id, exc))
            else:
                group = packets.get(place)
                if group is None:
                    group = packets[place] = []
                group.append(packet)
        return encoded

    def _rows(self, lists: dict[str, list[Any]], count: int) -> Iterator[tuple[Any, ...]]:
        nothing = [None] * count
        shared = [lists[prop] for prop in self._shared]
        body_types = lists.get("body_type")
        bodies = lists.get("body")
        if bodies is None:
            bodies = [b""] * count
        elif self._columns.text_body:
            types: Sequence[int | None] = body_types or [None] * count
            bodies = [
                self._encode_text(*typed_body) for typed_body in zip(bodies, types, strict=True)
            ]
        elif None in bodies:
            bodies = [body or b"" for body in bodies]
        return zip(
            lists.get("queue", nothing),
            lists.get("transactional", nothing),
            zip(*shared, strict=True) if shared else repeat((), count),
            bodies,
            lists.get("label", nothing),
            lists.get("correlation_id", nothing),
            lists.get("raw_packet", nothing),
            strict=True,
        )

    def _encode_text(self, text: str | None, body_type: int | None) -> bytes:
        wide = (self._text_type if body_type is None else body_type) in _WIDE
        return (text or "").encode("utf-16-le" if wide else "utf-8")

    def _open(self, name: str, transactional: bool | None) -> Target:  # noqa: FBT001 - of a row
        column = self._columns.name("queue")
        if not name:
            raise _Unfit(column, "names no queue, and there is no option queue")
        try:
            return self._target(name, transactional)
        except WrongQueue as exc:
            raise _Unfit(column, f"{name}: {exc}") from exc

    def _again(
        self,
        name: str,
        transactional: bool | None,  # noqa: FBT001 - of a row
        packet: bytes,
    ) -> tuple[Place, bytes]:
        target = self._open(name, transactional)
        try:
            return target.place, target.builder.again(packet)
        except (MalformedPacket, ValueError) as exc:
            raise _Unfit(self._columns.name("raw_packet"), str(exc)) from exc

    def _family(
        self,
        name: str,
        transactional: bool | None,  # noqa: FBT001 - of a row
        shared: tuple[Any, ...],
    ) -> tuple[Place, Family]:
        target = self._open(name, transactional)
        builder = target.builder
        values: dict[str, Any] = {"delivery": "recoverable"}
        if self._columns.text_body:
            values["body_type"] = int(self._text_type)
        for prop, value in zip(self._shared, shared, strict=True):
            try:
                values |= _VALUES[prop](value)
                if prop == "body_type" and value is not None and self._columns.text_body:
                    _check_text_type(value)
                if prop in _QUEUES and value is not None:
                    builder.family(Message(**{prop: value}))
            except (ValueError, QueueError) as exc:
                raise _Unfit(self._columns.name(prop), str(exc)) from exc
        family = target.place, builder.family(Message(**values))
        if len(self._families) >= MAX_FAMILIES:
            self._families.clear()
        self._families[name, transactional, shared] = family
        return family

    def _blame(self, row: int, label: str, correlation_id: Any, exc: ValueError) -> RowFault:
        """Find out which column does not fit."""
        column = "body"
        try:
            if correlation_id is not None:
                column = "correlation_id"
                correlation_bytes(correlation_id)
            column = "label"
            encode_label(label)
            column = "body"
        except ValueError as cause:
            exc = cause
        return RowFault(row, self._columns.name(column), str(exc))


def _values(column: pa.Array, name: str, faults: dict[int, RowFault]) -> list[Any]:
    """The values of a column; null for invalid text, which Spark does not check."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        values: list[Any] = []
    for row, scalar in enumerate(column):
        try:
            values.append(scalar.as_py())
        except UnicodeDecodeError as exc:
            faults.setdefault(row, RowFault(row, name, str(exc)))
            values.append(None)
    return values


class _Unfit(Exception):
    """A value of a row that no message can have."""

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(column, reason)
        self.column = column
        self.reason = reason


def _whole(name: str, most: int, default: int) -> Callable[[int | None], dict[str, Any]]:
    def value(number: int | None) -> dict[str, Any]:
        if number is None:
            return {name: default}
        if not 0 <= number <= most:
            raise ValueError(f"{number} is not in 0..{most}")
        return {name: number}

    return value


def _seconds(name: str) -> Callable[[int | None], dict[str, Any]]:
    def value(seconds: int | None) -> dict[str, Any]:
        if seconds is not None and not 0 <= seconds < INFINITE:
            raise ValueError(
                f"{seconds} seconds are not in 0..{INFINITE - 1}, and null is for ever"
            )
        return {name: seconds}

    return value


def _delivery(word: str | None) -> dict[str, Any]:
    if word is not None and word not in DELIVERY_WORDS:
        raise ValueError(f"{word!r} must be one of {', '.join(DELIVERY_WORDS)}")
    return {"delivery": word or "recoverable"}


def _acknowledge(flags: int | str | None) -> dict[str, Any]:
    if isinstance(flags, str):
        return {"acknowledge": acknowledge_flags(flags)}
    return _whole("acknowledge", _ALL_ACKNOWLEDGMENTS, 0)(flags)


def _journal(code: int | None) -> dict[str, Any]:
    flags = int(Journal.JOURNAL) if code is True else int(code or 0)
    if not 0 <= flags <= _ALL_JOURNALS:
        raise ValueError(f"{code} is not in 0..{_ALL_JOURNALS}")
    return {
        "journal": bool(flags & Journal.JOURNAL),
        "dead_letter": bool(flags & Journal.DEADLETTER),
    }


def _body_type(code: int | None) -> dict[str, Any]:
    return {} if code is None else _whole("body_type", _MAX_U32, 0)(code)


def _check_text_type(body_type: int) -> None:
    if body_type not in _WIDE | _NARROW:
        allowed = ", ".join(
            f"{int(code)} ({BodyType(code).name})" for code in sorted(_WIDE | _NARROW)
        )
        raise ValueError(f"{body_type} is no type of text; a body that is a string has {allowed}")


_QUEUES: Final = ("response_queue", "admin_queue")
_VALUES: Final[dict[str, Callable[[Any], dict[str, Any]]]] = {
    "body_type": _body_type,
    "priority": _whole("priority", _MAX_PRIORITY, 3),
    "app_specific": _whole("app_specific", _MAX_U32, 0),
    "extension": lambda value: {"extension": value or b""},
    "delivery": _delivery,
    "time_to_reach_queue": _seconds("time_to_reach_queue"),
    "time_to_be_received": _seconds("time_to_be_received"),
    "response_queue": lambda value: {"response_queue": value or None},
    "admin_queue": lambda value: {"admin_queue": value or None},
    "acknowledge": _acknowledge,
    "journal": _journal,
    "class": _whole("class_", _MAX_U16, 0),
}
