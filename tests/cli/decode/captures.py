"""Captures of example sessions, frame by frame, and what the command prints of them."""

import json
from typing import Any
from uuid import UUID

from tests.wire.capture import writer
from tests.wire.capture.writer import ACK, CLIENT, FIN, SERVER, SYN
from tests.wire.frames import frame, frame_bytes

from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address

SESSION = [frame_bytes(number) for number in range(3, 9)]
ALL = [frame_bytes(number) for number in range(1, 9)]
KINDS = [frame(number)["packet"] for number in range(1, 9)]
CUT = bytes.fromhex(frame(7)["hex"])


def segment(
    data: bytes, *, at: int = 0, flags: int = ACK, back: bool = False, port: int = 50000
) -> bytes:
    """A frame of a TCP connection; the sequence numbers begin at 1000."""
    source, destination = (SERVER, CLIENT) if back else (CLIENT, SERVER)
    ports = (1801, port) if back else (port, 1801)
    raw = writer.tcp(
        data,
        sequence=1001 + at,
        flags=flags,
        source_port=ports[0],
        destination_port=ports[1],
    )
    return writer.ethernet(writer.ipv4(raw, source=source, destination=destination))


def start(*, back: bool = False, port: int = 50000) -> bytes:
    return segment(b"", at=-1, flags=SYN, back=back, port=port)


def capture_of_the_example() -> bytes:
    """The example session, its user message in two segments that come in the wrong order."""
    message = frame_bytes(7)
    ping = writer.udp(frame_bytes(1))
    pong = writer.udp(frame_bytes(2), source_port=3527, destination_port=50001)
    return writer.pcap(
        writer.ethernet(writer.ipv4(ping, protocol=17)),
        writer.ethernet(writer.ipv4(pong, protocol=17, source=SERVER, destination=CLIENT)),
        start(),
        start(back=True),
        segment(frame_bytes(3)),
        segment(frame_bytes(4), back=True),
        segment(frame_bytes(5), at=572),
        segment(frame_bytes(6), at=572, back=True),
        segment(message[1000:], at=1604),
        segment(message[:1000], at=604),
        segment(frame_bytes(8), at=604, back=True),
        segment(b"", at=2828, flags=FIN | ACK),
        segment(b"", at=640, flags=FIN | ACK, back=True),
    )


# Any: JSON is free-form.
def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def a_message(**options: Any) -> bytes:
    return build_user_message(
        destination_queue=direct_address("TCP:127.0.0.3\\private$\\orders"),
        source_queue_manager=UUID(int=1),
        sent_time=1_700_000_000,
        **options,
    )
