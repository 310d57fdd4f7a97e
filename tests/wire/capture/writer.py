"""Captures made by hand: frames, packets and files, written without the code under test."""

import struct
from ipaddress import ip_address

CLIENT, SERVER = "192.0.2.1", "192.0.2.2"
CLIENT_6, SERVER_6 = "2001:db8::1", "2001:db8::2"
FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10


def tcp(
    data: bytes = b"",
    *,
    sequence: int = 0,
    acknowledgment: int = 0,
    flags: int = ACK,
    source_port: int = 50000,
    destination_port: int = 1801,
    options: bytes = b"",
) -> bytes:
    offset = (20 + len(options)) // 4
    head = struct.pack(
        ">HHIIBBHHH",
        source_port,
        destination_port,
        sequence & 0xFFFFFFFF,
        acknowledgment & 0xFFFFFFFF,
        offset << 4,
        flags,
        8192,
        0,
        0,
    )
    return head + options + data


def udp(data: bytes, *, source_port: int = 50001, destination_port: int = 3527) -> bytes:
    return struct.pack(">HHHH", source_port, destination_port, 8 + len(data), 0) + data


def ipv4(
    payload: bytes,
    *,
    protocol: int = 6,
    source: str = CLIENT,
    destination: str = SERVER,
    identification: int = 1,
    fragment: int = 0,
    total: int | None = None,
    options: bytes = b"",
) -> bytes:
    header = 20 + len(options)
    return (
        struct.pack(
            ">BBHHHBBH4s4s",
            0x40 | header // 4,
            0,
            header + len(payload) if total is None else total,
            identification,
            fragment,
            64,
            protocol,
            0,
            ip_address(source).packed,
            ip_address(destination).packed,
        )
        + options
        + payload
    )


def ipv6(
    payload: bytes,
    *,
    following: int = 6,
    source: str = CLIENT_6,
    destination: str = SERVER_6,
    size: int | None = None,
) -> bytes:
    return (
        struct.pack(
            ">IHBB16s16s",
            0x60000000,
            len(payload) if size is None else size,
            following,
            64,
            ip_address(source).packed,
            ip_address(destination).packed,
        )
        + payload
    )


def ethernet(packet: bytes, *, kind: int | None = None, vlans: tuple[int, ...] = ()) -> bytes:
    tags = b"".join(struct.pack(">HH", vlan, 7) for vlan in vlans)
    ethertype = kind if kind is not None else 0x86DD if packet[0] >> 4 == 6 else 0x0800
    return bytes(12) + tags + struct.pack(">H", ethertype) + packet


def pcap(
    *frames: bytes,
    order: str = "<",
    nano: bool = False,
    link_type: int = 1,
    missing: int = 0,
    start: int = 1_700_000_000,
) -> bytes:
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    out = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 262144, link_type)
    for number, frame in enumerate(frames):
        size = len(frame)
        out += struct.pack(f"{order}IIII", start + number, 500, size, size + missing) + frame
    return out


def block(kind: int, body: bytes, *, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(f"{order}I", 12 + len(body))
    return struct.pack(f"{order}I", kind) + size + body + size


def section(*, order: str = "<", options: bytes = b"") -> bytes:
    return block(
        0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1) + options, order=order
    )


def option(code: int, value: bytes, *, order: str = "<") -> bytes:
    return struct.pack(f"{order}HH", code, len(value)) + value + bytes(-len(value) % 4)


def interface(
    link_type: int = 1, *, snap_length: int = 0, order: str = "<", options: bytes = b""
) -> bytes:
    return block(1, struct.pack(f"{order}HHI", link_type, 0, snap_length) + options, order=order)


def enhanced(
    frame: bytes, *, index: int = 0, units: int = 0, missing: int = 0, order: str = "<"
) -> bytes:
    head = struct.pack(
        f"{order}IIIII", index, units >> 32, units & 0xFFFFFFFF, len(frame), len(frame) + missing
    )
    return block(
        6, head + frame + bytes(-len(frame) % 4) + option(0, b"", order=order), order=order
    )


def obsolete(frame: bytes, *, index: int = 0, units: int = 0, order: str = "<") -> bytes:
    head = struct.pack(
        f"{order}HHIIII", index, 0, units >> 32, units & 0xFFFFFFFF, len(frame), len(frame)
    )
    return block(2, head + frame, order=order)


def simple(frame: bytes, *, original: int | None = None, order: str = "<") -> bytes:
    size = len(frame) if original is None else original
    return block(3, struct.pack(f"{order}I", size) + frame, order=order)
