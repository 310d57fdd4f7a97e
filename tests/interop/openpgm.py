"""A program on Debian's OpenPGM (libpgm-5.3-0) that sends or receives APDUs.

    python openpgm.py send|receive udp|raw ADDRESS GROUP PORT GROUP_UDP_PORT UNICAST_UDP_PORT

`send` reads APDUs from its input, one a line in hex, and sends each; it then repairs what is
missed until its input ends. `receive` writes each APDU in the same form.
"""

import ctypes
import select
import socket
import struct
import sys
import time
from ctypes.util import find_library
from typing import Any

LIBRARY = "libpgm-5.3.so.0"
IPPROTO_PGM = 113
LOOPBACK_INDEX = 1
NORMAL, RESET, TIMER_PENDING = 1, 2, 7
MAX_APDU = 70_000
# Socket options, in the order of the library's header.
(MTU, _, _, _, MULTICAST_LOOP, MULTICAST_HOPS) = range(0x2008, 0x200E)
(AMBIENT_SPM, HEARTBEAT_SPM, _, TXW_SQNS, _, TXW_MAX_RTE) = range(0x200F, 0x2015)
(PEER_EXPIRY, SPMR_EXPIRY, _, RXW_SQNS) = range(0x2015, 0x2019)
(NAK_BO_IVL, NAK_RPT_IVL, NAK_RDATA_IVL, NAK_DATA_RETRIES, NAK_NCF_RETRIES) = range(0x201B, 0x2020)
(SEND_ONLY, RECV_ONLY, PASSIVE) = range(0x2023, 0x2026)
(NOBLOCK, SEND_GROUP, JOIN_GROUP) = range(0x2027, 0x202A)
(UDP_ENCAP_UCAST_PORT, UDP_ENCAP_MCAST_PORT) = range(0x2030, 0x2032)
MILLISECOND, SECOND = 1_000, 1_000_000


def is_installed() -> bool:
    """Whether the library is there."""
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        return find_library("pgm-5.3") is not None
    return True


class PgmError(ctypes.Structure):
    _fields_ = (("domain", ctypes.c_int), ("code", ctypes.c_int), ("message", ctypes.c_char_p))


def _address(address: str) -> bytes:
    """A sockaddr_storage."""
    family = struct.pack("=H", socket.AF_INET)
    return (family + b"\0\0" + socket.inet_aton(address)).ljust(128, b"\0")


class Endpoint:
    """A socket of OpenPGM on loopback."""

    def __init__(self, arguments: list[str], *, sends: bool) -> None:
        encapsulation, address, group, port, group_port, unicast_port = arguments
        self._library = ctypes.CDLL(LIBRARY)
        self._error = ctypes.POINTER(PgmError)()
        self._call("pgm_init")
        self._socket = ctypes.c_void_p()
        udp = encapsulation == "udp"
        protocol = socket.IPPROTO_UDP if udp else IPPROTO_PGM
        self._call("pgm_socket", ctypes.byref(self._socket), socket.AF_INET, 5, protocol)
        if udp:
            self._set(UDP_ENCAP_UCAST_PORT, int(unicast_port))
            self._set(UDP_ENCAP_MCAST_PORT, int(group_port))
        self._set(MTU, 1500)
        self._set(SEND_ONLY if sends else RECV_ONLY, 1)
        if sends:
            self._set(TXW_SQNS, 10_000)
            self._set(TXW_MAX_RTE, 400_000)
            self._set(AMBIENT_SPM, 500 * MILLISECOND)
            beats = [100, 100, 100, 100, 1000, 1000, 2000, 4000]
            self._set(HEARTBEAT_SPM, *[beat * MILLISECOND for beat in beats])
        else:
            self._set(PASSIVE, 0)
            self._set(RXW_SQNS, 10_000)
            self._set(PEER_EXPIRY, 300 * SECOND)
            self._set(SPMR_EXPIRY, 250 * MILLISECOND)
            self._set(NAK_BO_IVL, 50 * MILLISECOND)
            self._set(NAK_RPT_IVL, 200 * MILLISECOND)
            self._set(NAK_RDATA_IVL, 400 * MILLISECOND)
            self._set(NAK_DATA_RETRIES, 50)
            self._set(NAK_NCF_RETRIES, 50)
        identity = struct.pack("=H6sH", int(port), struct.pack(">IH", id(self) & 0xFFFFFFFF, 7), 0)
        interface = struct.pack("=II", LOOPBACK_INDEX, 0) + _address(address)
        sizes = len(identity), len(interface)
        self._call("pgm_bind3", self._socket, identity, sizes[0], *(interface, sizes[1]) * 2)
        request = struct.pack("=I4x", LOOPBACK_INDEX) + _address(group) * 2 + _address(address)
        self._set_bytes(JOIN_GROUP, request)
        self._set_bytes(SEND_GROUP, request)
        self._set(MULTICAST_LOOP, 1)
        self._set(MULTICAST_HOPS, 16)
        self._set(NOBLOCK, 1)
        self._call("pgm_connect", self._socket)

    def _call(self, name: str, *arguments: Any) -> None:
        if not getattr(self._library, name)(*arguments, ctypes.byref(self._error)) & 0xFF:
            reason = self._error.contents.message or b"no reason"
            raise SystemExit(f"{name}: {reason.decode()}")

    def _set(self, option: int, *values: int) -> None:
        self._set_bytes(option, struct.pack(f"={len(values)}i", *values))

    def _set_bytes(self, option: int, value: bytes) -> None:
        if (
            not self._library.pgm_setsockopt(self._socket, IPPROTO_PGM, option, value, len(value))
            & 0xFF
        ):
            raise SystemExit(f"option {option:#x} was refused")

    def send(self, apdu: bytes) -> None:
        while (
            self._library.pgm_send(self._socket, apdu, ctypes.c_size_t(len(apdu)), None) != NORMAL
        ):
            self.receive()
            time.sleep(0.001)

    def receive(self) -> bytes | None:
        """The next APDU; None if there is none. It also does everything else that is due."""
        buffer = ctypes.create_string_buffer(MAX_APDU)
        size = ctypes.c_size_t()
        status = self._library.pgm_recv(
            self._socket,
            buffer,
            ctypes.c_size_t(MAX_APDU),
            0,
            ctypes.byref(size),
            ctypes.byref(self._error),
        )
        if status == RESET:
            sys.stdout.write("reset\n")
        return buffer.raw[: size.value] if status == NORMAL else None


def main() -> None:
    role, arguments = sys.argv[1], sys.argv[2:]
    endpoint = Endpoint(arguments, sends=role == "send")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    # Without a buffer, so that `select` sees every line.
    lines = open(0, "rb", buffering=0)  # noqa: SIM115 - as long as the program runs
    while True:
        # The end of the input is the end of the program.
        if select.select([lines], [], [], 0)[0]:
            line = lines.readline()
            if not line:
                return
            endpoint.send(bytes.fromhex(line.decode()))
        apdu = endpoint.receive()
        if apdu is None:
            time.sleep(0.002)
        else:
            sys.stdout.write(apdu.hex() + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
