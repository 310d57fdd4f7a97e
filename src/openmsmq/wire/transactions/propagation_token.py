"""Propagation_Token: which coordinator decides a transaction ([MS-DTCO] 2.2.5.1-4)."""

from dataclasses import dataclass
from struct import Struct
from typing import Final, Self
from uuid import UUID

from openmsmq.wire.checks import decode_utf16, require
from openmsmq.wire.errors import MalformedPacket

VERSION_MIN: Final = 1
VERSION_MAX: Final = 3
ISOLATION_LEVEL_SERIALIZABLE: Final = 0x0010_0000
# The default of dwReserved1.
RESERVED: Final = 0xCD64_CD64
# [MS-CMPO] 2.2.4: TCP/IP.
PROT_IP_TCP: Final = 1
MAX_HOST_NAME: Final = 16

_TOKEN: Final = Struct("<II16sIII40s")
_NAME_OBJECT: Final = Struct("<40sIII")
_VERSION_2: Final = Struct("<I")
_VERSION_3: Final = Struct("<III")


@dataclass(frozen=True, slots=True)
class PropagationToken:
    """A transaction and the coordinator that decides it.

    Attributes:
        guid_tx: the transaction.
        contact: the contact identifier of the coordinator.
        host_name: its NetBIOS name, of at most 15 characters.
        url: of the coordinator; the URL of the TIP transaction manager in [MS-DTCO], empty where
            the token has none.
        network_enabled: whether the coordinator takes part in transactions of other machines.
    """

    guid_tx: UUID
    contact: UUID
    host_name: str
    url: str = ""
    description: str = ""
    version_max: int = VERSION_MAX
    network_enabled: bool = True

    @classmethod
    def parse(cls, buf: bytes | memoryview) -> Self:
        """Read a token; nothing may follow it.

        Raises:
            MalformedPacket: it cannot be read.
        """
        at = require(buf, 0, _TOKEN.size, "Propagation_Token")
        least, most, guid_tx, _, _, size, description = _TOKEN.unpack_from(buf)
        if least != VERSION_MIN:
            raise MalformedPacket("Propagation_Token.dwVersionMin", 0, f"{least} must be 1")
        if not VERSION_MIN <= most <= VERSION_MAX:
            raise MalformedPacket("Propagation_Token.dwVersionMax", 4, f"{most} must be 1, 2 or 3")
        if size != len(buf) - at:
            raise MalformedPacket(
                "Propagation_Token.cbSourceTmAddr", 32, f"{size} bytes, {len(buf) - at} follow"
            )
        contact, host_name, at = _parse_name_object(buf, at)
        if most > 1:
            host_name, at = _parse_host_name(buf, at)
        url, network_enabled = "", True
        if most > 2:
            url, network_enabled, at = _parse_version_3(buf, at)
        if at != len(buf):
            raise MalformedPacket("Propagation_Token", at, f"{len(buf) - at} bytes too many")
        return cls(
            UUID(bytes_le=guid_tx),
            contact,
            host_name,
            url,
            _text(description, 36, "Propagation_Token.szDesc"),
            most,
            network_enabled,
        )

    def serialize(self) -> bytes:
        host_name = self.host_name[: MAX_HOST_NAME - 1]
        narrow = host_name.encode("latin-1", "replace") + b"\0"
        guid_text = str(self.contact).encode()
        rest = _NAME_OBJECT.pack(guid_text, len(narrow), RESERVED, PROT_IP_TCP) + narrow
        if self.version_max > 1:
            wide = host_name.encode("utf-16-le") + b"\0\0"
            rest += _VERSION_2.pack(len(wide)) + wide
        if self.version_max > 2:
            url = self.url.encode("latin-1") + b"\0" if self.url else b""
            rest += _VERSION_3.pack(int(self.network_enabled), 0, len(url)) + url
        return (
            _TOKEN.pack(
                VERSION_MIN,
                self.version_max,
                self.guid_tx.bytes_le,
                ISOLATION_LEVEL_SERIALIZABLE,
                0,
                len(rest),
                self.description.encode("latin-1", "replace")[:39],
            )
            + rest
        )


def _parse_name_object(buf: bytes | memoryview, at: int) -> tuple[UUID, str, int]:
    start = at
    at = require(buf, at, _NAME_OBJECT.size, "NAMEOBJECTBLOB")
    guid_text, size, _, _ = _NAME_OBJECT.unpack_from(buf, start)
    field = "NAMEOBJECTBLOB.szGuid"
    try:
        contact = UUID(_text(guid_text, start, field))
    except ValueError as exc:
        raise MalformedPacket(field, start, "not a GUID") from exc
    if not 1 <= size <= MAX_HOST_NAME:
        raise MalformedPacket("NAMEOBJECTBLOB.dwcbHostName", start + 40, f"{size} must be 1 to 16")
    end = require(buf, at, size, "NAMEOBJECTBLOB.szHostName")
    return contact, _whole_text(buf, at, end, "NAMEOBJECTBLOB.szHostName"), end


def _parse_host_name(buf: bytes | memoryview, at: int) -> tuple[str, int]:
    start = at
    at = require(buf, at, _VERSION_2.size, "Associate_Msg_Version2")
    (size,) = _VERSION_2.unpack_from(buf, start)
    if not 2 <= size <= 2 * MAX_HOST_NAME or size % 2:
        raise MalformedPacket(
            "Associate_Msg_Version2.cbHostNameW", start, f"{size} must be even, 2 to 32"
        )
    field = "Associate_Msg_Version2.wszHostName"
    end = require(buf, at, size, field)
    text = decode_utf16(buf[at:end], at, field)
    if text.find("\0") != len(text) - 1:
        raise MalformedPacket(field, at, "the NUL is not at the end")
    return text[:-1], end


def _parse_version_3(buf: bytes | memoryview, at: int) -> tuple[str, bool, int]:
    start = at
    at = require(buf, at, _VERSION_3.size, "Associate_Msg_Version3")
    network, _, size = _VERSION_3.unpack_from(buf, start)
    field = "Associate_Msg_Version3.szTipTmUrl"
    end = require(buf, at, size, field)
    return _whole_text(buf, at, end, field) if size else "", bool(network), end


def _text(raw: bytes, at: int, field: str) -> str:
    """The text up to the first NUL of a field of a fixed size."""
    text, terminator, _ = raw.partition(b"\0")
    if not terminator:
        raise MalformedPacket(field, at, "there is no NUL")
    return text.decode("latin-1")


def _whole_text(buf: bytes | memoryview, at: int, end: int, field: str) -> str:
    """The text of a field that has room for its NUL and no more."""
    raw = bytes(buf[at:end])
    if raw.find(b"\0") != len(raw) - 1:
        raise MalformedPacket(field, at, "the NUL is not at the end")
    return raw[:-1].decode("latin-1")
