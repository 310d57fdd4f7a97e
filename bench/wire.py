"""Reading and building 1 KiB UserMessages, beside a plain `struct` loop over the same bytes.

Reproduce with `python -m bench wire` (or `make bench`); add `--json` for one object per line.

The floor of reading finds each packet by PacketSize in the same 64 KiB chunks, unpacks the six
fields and nothing else (no bounds, no optional headers, one fixed kind of address), slices and
decodes destination and label, and makes a tuple of them. Ours frames the chunks, checks every
offset, and reads the six properties of the `UserMessage`. The floor of building encodes the same
destination and label, packs the same headers and joins them. Every round runs all of them in turn;
the figures are medians over the rounds.
"""

import statistics
from collections.abc import Callable
from struct import Struct
from time import perf_counter
from typing import Final

from bench.report import Result
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import UserMessageTemplate, build_user_message
from openmsmq.wire.message.user_message_patch import stamp_many
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.base_header import SIGNATURE
from openmsmq.wire.packets.framer import Framer

PACKET_SIZE: Final = 1024
MESSAGES: Final = 2048
ROUNDS: Final = 25
CHUNK_SIZE: Final = 65536
LIMIT: Final = 3.0

_DESTINATION: Final = r"TCP:127.0.0.2\private$\orders"
_BODY: Final = b"x" * 814
_LABELS: Final = [f"order {number:06}" for number in range(MESSAGES)]
_FLAGS: Final = 0x00201C20
_GUID_NULL: Final = bytes(16)

_READ_HEADERS: Final = Struct("<2xH4xI44xIIH").unpack_from
_READ_PROPERTIES: Final = Struct("<xBH").unpack_from
_WRITE_HEADERS: Final = Struct("<BxHIII16s16sIIIIH").pack
_WRITE_PROPERTIES: Final = Struct("<BBH20sIIIIIIII").pack

Six = tuple[object, int, int, int, int, str]


def floor_read(chunks: list[bytes]) -> list[Six]:
    found: list[Six] = []
    for chunk in chunks:
        at = 0
        while at < len(chunk):
            base_flags, size, message_id, flags, count = _READ_HEADERS(chunk, at)
            name = at + 66
            destination = chunk[name : name + count - 2].decode("utf-16-le")
            properties = (name + count + 3) & ~3
            length, message_class = _READ_PROPERTIES(chunk, properties)
            label = chunk[properties + 56 : properties + 54 + 2 * length].decode("utf-16-le")
            found.append(
                (destination, message_id, base_flags & 7, flags >> 5 & 3, message_class, label)
            )
            at += size
    return found


def read(chunks: list[bytes]) -> list[Six]:
    framer = Framer()
    found: list[Six] = []
    for chunk in chunks:
        for packet, _ in framer.feed(chunk):
            message = UserMessage(packet)
            found.append(
                (
                    message.destination_queue,
                    message.message_id,
                    message.priority,
                    message.delivery_mode,
                    message.message_class,
                    message.label,
                )
            )
    return found


def floor_build() -> list[bytes]:
    built: list[bytes] = []
    size = len(_BODY)
    for text in _LABELS:
        name = _DESTINATION.encode("utf-16-le") + b"\0\0"
        label = text.encode("utf-16-le") + b"\0\0"
        gap = bytes(-(66 + len(name)) % 4)
        end = 66 + len(name) + len(gap) + 56 + len(label) + size
        padding = bytes(-end % 4)
        headers = _WRITE_HEADERS(
            16,
            3,
            SIGNATURE,
            end + len(padding),
            0xFFFFFFFF,
            _GUID_NULL,
            _GUID_NULL,
            0xFFFFFFFF,
            0,
            0,
            _FLAGS,
            len(name),
        )
        properties = _WRITE_PROPERTIES(0, len(label) // 2, 0, b"", 0, 0, size, size, 0, 0, 0, 0)
        built.append(b"".join((headers, name, gap, properties, label, _BODY, padding)))
    return built


def build() -> list[bytes]:
    return [
        build_user_message(
            destination_queue=direct_address(_DESTINATION),
            delivery_mode=1,
            body=_BODY,
            label=label,
        )
        for label in _LABELS
    ]


def build_from_template() -> list[bytes]:
    template = UserMessageTemplate(destination_queue=direct_address(_DESTINATION), delivery_mode=1)
    return [template.build(_BODY, label) for label in _LABELS]


def run() -> list[Result]:
    packets = floor_build()
    assert build() == build_from_template() == packets
    assert {len(packet) for packet in packets} == {PACKET_SIZE}
    stream = b"".join(packets)
    chunks = [stream[at : at + CHUNK_SIZE] for at in range(0, len(stream), CHUNK_SIZE)]
    assert [six[1:] for six in read(chunks)] == [six[1:] for six in floor_read(chunks)]
    work: dict[str, Callable[[], object]] = {
        "floor: read with struct": lambda: floor_read(chunks),
        "frame, check and read six properties": lambda: read(chunks),
        "floor: build with struct": floor_build,
        "build": build,
        "build from a template": build_from_template,
        "stamp identity and time": lambda: stamp_many(packets, _GUID_NULL, 1, 1_700_000_000),
    }
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(ROUNDS):
        for name, function in work.items():
            start = perf_counter()
            function()
            seconds[name].append(perf_counter() - start)
    median = {name: statistics.median(taken) for name, taken in seconds.items()}
    floor_of_reading = median["floor: read with struct"]
    floor_of_building = median["floor: build with struct"]
    ratios = {
        "frame, check and read six properties": floor_of_reading,
        "build": floor_of_building,
        "build from a template": floor_of_building,
    }
    return [
        Result(name, MESSAGES / taken, taken / ratios[name], LIMIT)
        if name in ratios
        else Result(name, MESSAGES / taken)
        for name, taken in median.items()
    ]
