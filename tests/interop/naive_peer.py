"""A queue manager that knows nothing but the byte layouts: plain sockets and `struct`.

Written from the published packet layouts alone; it shares no code with the implementation, so that
both cannot be wrong in the same way.
"""

import socket
import struct
import uuid

GUID = uuid.UUID("a1b2c3d4-1111-2222-3333-444455556666")


def base(size: int, flags: int, life: int = 0xFFFFFFFF) -> bytes:
    return struct.pack("<BBH4sII", 0x10, 0, flags, b"LIOR", size, life)


def establish(client: uuid.UUID, server: bytes = bytes(16), *, refused: bool = False) -> bytes:
    internal = struct.pack("<HH", 0, 2 | (0x10 if refused else 0))
    body = client.bytes_le + server + struct.pack("<IHH", 12345, 0x0110, 0) + bytes(512)
    return base(572, 0x000B) + internal + body


def parameters(window: int = 64) -> bytes:
    return base(32, 0x000B) + struct.pack("<HH", 0, 3) + struct.pack("<IIHH", 500, 20000, 0, window)


def session_ack(received: int, stored: int = 0, mask: int = 0) -> bytes:
    header = struct.pack("<HHIHHHH", received, stored, mask, 0, 0, 64, 0)
    return base(36, 0x001B) + struct.pack("<HH", 0, 1) + header


def direct(name: str, offset: int) -> bytes:
    """A direct queue name that starts `offset` bytes behind the start of the UserHeader."""
    text = name.encode("utf-16-le") + b"\0\0"
    encoded = struct.pack("<H", len(text)) + text
    return encoded + bytes(-(offset + len(encoded)) % 4)


def user_message(
    destination: str,
    body: bytes,
    number: int,
    *,
    recoverable: bool = False,
    label: str = "",
    transaction: bytes = b"",
    source: uuid.UUID = GUID,
) -> bytes:
    """A message with neither SessionHeader nor security."""
    flags = 7 << 10 | 0x00200000 | (1 << 5 if recoverable else 0)
    if transaction:
        flags |= 0x00100000
    address = direct(destination, 48)
    user = (
        source.bytes_le + bytes(16) + struct.pack("<IIII", 0xFFFFFFFF, 1_700_000_000, number, flags)
    )
    text = label.encode("utf-16-le") + b"\0\0" if label else b""
    properties = (
        struct.pack("<BBH", 0, len(text) // 2, 0)
        + bytes(20)
        + struct.pack("<IIIIIIII", 0, 7, len(body), len(body), 0, 0, 0, 0)
        + text
        + body
    )
    properties += bytes(-len(properties) % 4)
    rest = user + address + transaction + properties
    return base(16 + len(rest), 0x0010 | (0 if transaction else 3)) + rest


def transaction(sequence: int, number: int, previous: int) -> bytes:
    """First and last message of a transaction."""
    return struct.pack("<IQII", 0x2 | 0x4 | 0x8, sequence, number, previous)


def counts(sent: int, recoverable: int, received: int = 0) -> bytes:
    """The SessionHeader behind a message."""
    return struct.pack("<HHIHHHH", received, 0, 0, sent, recoverable, 64, 0)


class NaivePeer:
    """The initiator of one session."""

    def __init__(self, address: str, port: int = 1801) -> None:
        self.socket = socket.create_connection((address, port), timeout=20)
        self.left = b""

    def __enter__(self) -> "NaivePeer":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read(self, size: int) -> bytes:
        """Exactly so many bytes; fewer when the other side hung up."""
        while len(self.left) < size:
            data = self.socket.recv(65536)
            if not data:
                break
            self.left += data
        found, self.left = self.left[:size], self.left[size:]
        return found

    def packet(self) -> bytes:
        """The next packet, with its SessionHeader; empty when the other side hung up."""
        head = self.read(16)
        if len(head) < 16:
            return b""
        flags, size = struct.unpack_from("<H4xI", head, 2)
        outside = 16 if flags & 0x10 and not flags & 0x08 else 0
        return head + self.read(size - 16 + outside)

    def handshake(self) -> bytes:
        """Open the session; returns the acceptor's GUID."""
        self.send(establish(GUID))
        answer = self.packet()
        assert len(answer) == 572
        assert answer[20:36] == GUID.bytes_le
        self.send(parameters())
        agreed = self.packet()
        assert len(agreed) == 32
        return answer[36:52]

    def session_ack(self) -> tuple[int, int, int]:
        """Received count, first stored recoverable number and mask of the next SessionAck."""
        while True:
            packet = self.packet()
            assert packet, "the session was closed"
            if struct.unpack_from("<H", packet, 2)[0] & 0x08:
                received, stored, mask = struct.unpack_from("<HHI", packet, 20)
                return received, stored, mask
