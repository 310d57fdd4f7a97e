"""Texts in the elements of an envelope: numbers, GUIDs, dates, identifiers ([MC-MQSRM] 2.2.1)."""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from uuid import UUID

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import MESSAGE_IDENTIFIER_SIZE, MessageIdentifier

# 20380119T031407, the greatest time that Windows writes, means that a message never expires.
NEVER: Final = 0x7FFFFFFF
MAX_UNSIGNED_LONG: Final = 0xFFFFFFFFFFFFFFFF
MAX_U32: Final = 0xFFFFFFFF
MAX_U16: Final = 0xFFFF

GUID_PATTERN: Final = r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
DATE_PATTERN: Final = "[0-9]{8}T[0-9]{6}"
_GUID: Final = re.compile(GUID_PATTERN)
_DATE: Final = re.compile(DATE_PATTERN)
_NUMBER: Final = re.compile("[0-9]{1,20}")
_IDENTIFIER: Final = re.compile(f"uuid:([0-9]{{1,20}})@({GUID_PATTERN})")
_STREAM_ID: Final = re.compile(rf"uid:({GUID_PATTERN})\\([0-9]{{1,20}})")
ACTION_PREFIX: Final = "MSMQ:"
MULTICAST_PREFIX: Final = "MSMQ:MULTICAST="
# [XML1.0] 2.3; other blanks belong to the text.
WHITE_SPACE: Final = " \t\r\n"
_WHITE_SPACE: Final = re.compile("[ \t\r\n]+")
_WEB: Final = ("http://", "https://")
_SHOWN: Final = 60


def fault(field: str, offset: int, text: str, wanted: str) -> MalformedPacket:
    """The error for a text that is not what its element holds."""
    excerpt = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return MalformedPacket(field, offset, f"{excerpt!r} is not {wanted}")


def read_number(text: str, maximum: int, field: str, offset: int) -> int:
    """An xs:unsignedLong up to `maximum`."""
    if _NUMBER.fullmatch(text) is None or int(text) > maximum:
        raise fault(field, offset, text, f"a number from 0 to {maximum}")
    return int(text)


def read_ordinal(text: str, field: str, offset: int) -> int:
    """The place of a message in its stream: a number from 1 on."""
    number = read_number(text, MAX_U32, field, offset)
    if not number:
        raise fault(field, offset, text, f"a number from 1 to {MAX_U32}")
    return number


# Few queue managers make all traffic, and many messages are sent within one second.
@lru_cache(maxsize=4096)
def guid_of(text: str) -> UUID:
    """The GUID of a text that has its form."""
    return UUID(text)


@lru_cache(maxsize=4096)
def guid_text(guid: UUID) -> str:
    """The text of a GUID."""
    return str(guid)


def read_guid(text: str, field: str, offset: int) -> UUID:
    """A GUID string ([MC-MQSRM] 2.2.1.1)."""
    if _GUID.fullmatch(text) is None:
        raise fault(field, offset, text, "a GUID")
    return guid_of(text)


@lru_cache(maxsize=4096)
def date_of(text: str) -> int:
    """The seconds since 1970 of a text that has the form of a date.

    Raises:
        ValueError: there is no such day or time.
    """
    moment = datetime(
        int(text[:4]),
        int(text[4:6]),
        int(text[6:8]),
        int(text[9:11]),
        int(text[11:13]),
        int(text[13:]),
        tzinfo=UTC,
    )
    return int(moment.timestamp())


def read_date(text: str, field: str, offset: int) -> int:
    """A date string ([MC-MQSRM] 2.2.1.2) as seconds since 1970."""
    if _DATE.fullmatch(text) is not None:
        try:
            return date_of(text)
        except ValueError:
            pass
    raise fault(field, offset, text, "a date of the form YYYYMMDDThhmmss")


@lru_cache(maxsize=4096)
def write_date(seconds: int) -> str:
    """The date string of a time; times after `NEVER` become `NEVER`."""
    return f"{datetime.fromtimestamp(min(seconds, NEVER), UTC):%Y%m%dT%H%M%S}"


def read_identifier(text: str, field: str, offset: int) -> MessageIdentifier:
    """A message identifier of the form `uuid:index@guid` ([MC-MQSRM] 2.2.4.3)."""
    match = _IDENTIFIER.fullmatch(text)
    # Choice: the index is an xs:unsignedLong, but a larger one than MessageID holds is refused,
    # because two messages with different identifiers must not become the same one.
    if match is None or int(match[1]) > MAX_U32:
        raise fault(field, offset, text, "an identifier of the form uuid:index@guid")
    return MessageIdentifier(guid_of(match[2]), int(match[1]))


def write_identifier(identifier: MessageIdentifier) -> str:
    """The text of a message identifier."""
    return f"uuid:{identifier.ordinal}@{guid_text(identifier.source)}"


def read_stream_id(text: str, field: str, offset: int) -> tuple[UUID, int]:
    r"""The parts of a stream identifier of the form `uid:guid\number` ([MC-MQSRM] 2.2.5.3.1)."""
    match = _STREAM_ID.fullmatch(text)
    if match is None or int(match[2]) > MAX_UNSIGNED_LONG:
        raise fault(field, offset, text, r"an identifier of the form uid:guid\number")
    return guid_of(match[1]), int(match[2])


def write_stream_id(guid: UUID, number: int) -> str:
    """The text of a stream identifier."""
    return f"uid:{guid_text(guid)}\\{number}"


def read_correlation(text: str, field: str, offset: int) -> bytes:
    """The base64 text of a correlation identifier; no text stands for zeros."""
    if not text:
        return bytes(MESSAGE_IDENTIFIER_SIZE)
    try:
        correlation = b64decode(text, validate=True)
    except (Base64Error, ValueError):
        correlation = b""
    if len(correlation) != MESSAGE_IDENTIFIER_SIZE:
        raise fault(field, offset, text, "20 bytes in base64")
    return correlation


def write_correlation(correlation: bytes) -> str:
    """The base64 text of a correlation identifier."""
    return b64encode(correlation).decode("ascii")


def is_web(text: str) -> bool:
    """Whether a text is a URL of HTTP or HTTPS, as far as its beginning tells."""
    return text[:8].lower().startswith(_WEB)


def read_url(text: str, field: str, offset: int) -> str:
    """A URL of HTTP or HTTPS, to which receipts may go."""
    if not is_web(text):
        raise fault(field, offset, text, "a URL that begins with http:// or https://")
    return text


def read_action(text: str) -> str:
    """<action>: white space is part of a label, unless it also stands before `MSMQ:`."""
    if not text or text.startswith(ACTION_PREFIX):
        return text
    stripped = text.strip(WHITE_SPACE)
    return stripped if stripped.startswith(ACTION_PREFIX) else text


def read_destination(text: str, field: str, offset: int) -> str:
    """<to>: a URL of HTTP or HTTPS, or a multicast address."""
    if is_web(text) or text.startswith(MULTICAST_PREFIX):
        return text
    wanted = f"a URL of HTTP or HTTPS, or an address after {MULTICAST_PREFIX}"
    raise fault(field, offset, text, wanted)


def split_names(text: str) -> list[str]:
    """Format names with white space between them, and none around."""
    return _WHITE_SPACE.split(text)
