"""Messages in files: `.omq` with packets and records, exact; `.jsonl` with a JSON object a line.

An `.omq` file begins with `OMQ1` and a line end. Each record is its length and its CRC-32, four
bytes little-endian each, and a msgpack array: queue, lookup id, arrival time, abort count, move
count, time of the last move, packet. A record of length 0, whose CRC is the count of records, ends
the file.
"""

import json
import os
import sys
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO, Final

import msgspec

from openmsmq.client import ReceivedMessage
from openmsmq.wire.errors import ConfigError, MsmqError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.packets.base_header import MAX_PACKET_SIZE

from .durable import sync_directory

MAGIC: Final = b"OMQ1\n"
JSON_SUFFIXES: Final = (".json", ".jsonl", ".ndjson")
_HEAD: Final = Struct("<II")
# A packet and its record.
_MAX_RECORD: Final = MAX_PACKET_SIZE + 64 * 1024
_MAX_LINE: Final = 4 * _MAX_RECORD


class SavedMessage(msgspec.Struct, array_like=True, frozen=True):
    """A message in a file; exactly the packet and the record beside it."""

    queue: str
    lookup_id: int
    arrived: float
    abort_count: int
    move_count: int
    last_move: float
    packet: bytes

    @classmethod
    def of(cls, queue: str, message: ReceivedMessage) -> "SavedMessage":
        """The message as in a queue."""
        moved = message.last_move_time
        return cls(
            queue,
            message.lookup_id,
            message.arrived_time.timestamp(),
            message.abort_count,
            message.move_count,
            0.0 if moved is None else moved.timestamp(),
            message.packet,
        )

    def received(self) -> ReceivedMessage:
        """The message with all its properties."""
        counters = (self.abort_count, self.move_count, self.last_move)
        return ReceivedMessage(self.packet, self.lookup_id, self.arrived, counters)


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(SavedMessage).decode


def is_json(path: Path) -> bool:
    """Whether a file with this name has JSON lines."""
    return path.suffix.lower() in JSON_SUFFIXES


def check_file_to_save(path: Path) -> None:
    """Refuse a file that is not writable, or must not be replaced, such as a device.

    Raises:
        ConfigError: with cause and remedy.
    """
    directory = path.absolute().parent
    if path.is_dir():
        fault, cause = "it is a directory", "The name of the file itself is missing."
    elif path.exists() and not path.is_file():
        fault, cause = "it is not a regular file", "A device or a pipe would be replaced."
    elif not directory.is_dir():
        fault, cause = f"there is no directory {directory}", "The directory was not created yet."
    elif not os.access(directory, os.W_OK | os.X_OK):
        fault, cause = f"no permission to write in {directory}", "It belongs to another user."
    else:
        return
    remedy = "Name a file in a directory that exists and that you may write in."
    raise ConfigError(f"{path}: {fault}", cause=cause, remedy=remedy)


def save_messages(path: Path, messages: Iterable[SavedMessage]) -> int:
    """Write messages to a file atomically; return the count.

    Raises:
        ConfigError: it cannot be written.
    """
    check_file_to_save(path)
    new = path.with_name(f".{path.name}.part")
    try:
        with new.open("wb") as file:
            count = _write_json(file, messages) if is_json(path) else _write(file, messages)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        sync_directory(path.absolute().parent)
    except OSError as exc:
        raise ConfigError(f"{path}: {exc.strerror}") from exc
    finally:
        new.unlink(missing_ok=True)
    return count


def _write(file: BinaryIO, messages: Iterable[SavedMessage]) -> int:
    file.write(MAGIC)
    count = 0
    for message in messages:
        record = _encode(message)
        file.write(_HEAD.pack(len(record), zlib.crc32(record)))
        file.write(record)
        count += 1
    file.write(_HEAD.pack(0, count))
    return count


def _write_json(file: BinaryIO, messages: Iterable[SavedMessage]) -> int:
    count = 0
    for message in messages:
        file.write(json.dumps(json_of(message)).encode() + b"\n")
        count += 1
    return count


def json_of(message: SavedMessage) -> dict[str, Any]:
    """A message as JSON: every property, and the packet in base 64."""
    return {
        "queue": message.queue,
        **message.received().to_dict(),
        "packet": b64encode(message.packet).decode("ascii"),
    }


def load_messages(path: Path) -> Iterator[SavedMessage]:
    """The messages of a file, in their order.

    Raises:
        ConfigError: it cannot be read, was cut short, or has other contents.
    """
    try:
        with path.open("rb") as file:
            yield from _read_json(path, file) if is_json(path) else _read(path, file)
    except OSError as exc:
        raise ConfigError(
            f"{path}: {exc.strerror}", remedy="Name a file that `openmsmq save` wrote."
        ) from exc


class PacketFile:
    """A file of messages that is read sequentially."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._messages: Iterator[SavedMessage] = iter(())
        # The index of the next message; larger than all before the file is opened.
        self._next = sys.maxsize

    def take(self, places: Sequence[int], ids: Sequence[str]) -> list[SavedMessage]:
        """The messages at ascending indexes; reading continues after the last ones.

        Raises:
            ConfigError: it cannot be read, or the messages there do not have these ids.
        """
        if places[0] < self._next:
            self._messages = load_messages(self._path)
            self._next = 0
        taken: list[SavedMessage] = []
        for place, identifier in zip(places, ids, strict=True):
            message = next(islice(self._messages, place - self._next, None), None)
            self._next = place + 1
            if message is None or message.received().id != identifier:
                raise _unusable(f"{self._path}: has changed since the job was planned")
            taken.append(message)
        return taken


def _unusable(fault: str) -> ConfigError:
    return ConfigError(
        fault,
        cause="The file was changed, or is not one that `openmsmq save` wrote.",
        remedy="Save the messages again, or load another copy of the file.",
    )


def _read(path: Path, file: BinaryIO) -> Iterator[SavedMessage]:
    if file.read(len(MAGIC)) != MAGIC:
        raise _unusable(f"{path}: not a file of messages, which begins with OMQ1")
    count = 0
    while True:
        at = file.tell()
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            raise _unusable(f"{path}: cut short; whole messages in it: {count}")
        size, check = _HEAD.unpack(head)
        if size == 0:
            if check != count:
                raise _unusable(f"{path}: has {count} messages instead of {check}")
            return
        if size > _MAX_RECORD:
            raise _unusable(f"{path}: a record of {size} bytes at {at}")
        record = file.read(size)
        if len(record) < size:
            raise _unusable(f"{path}: cut short; whole messages in it: {count}")
        if zlib.crc32(record) != check:
            raise _unusable(f"{path}: the record at {at} is damaged")
        try:
            message = _decode(record)
            UserMessage(message.packet)
        except (msgspec.MsgspecError, MsmqError) as exc:
            raise _unusable(f"{path}: the record at {at} is no message: {exc}") from exc
        count += 1
        yield message


def _read_json(path: Path, file: BinaryIO) -> Iterator[SavedMessage]:
    number = 0
    while line := file.readline(_MAX_LINE):
        number += 1
        if not line.strip():
            continue
        try:
            data = msgspec.json.decode(line)
            packet = b64decode(data["packet"], validate=True)
            UserMessage(packet)
            yield SavedMessage(
                str(data.get("queue", "")),
                int(data.get("lookup_id", 0)),
                0.0,
                int(data.get("abort_count", 0)),
                int(data.get("move_count", 0)),
                0.0,
                packet,
            )
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError, MsmqError) as exc:
            raise _unusable(
                f"{path}, line {number}: not a saved message, which has its packet: {exc}"
            ) from exc
