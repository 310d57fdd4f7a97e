"""Bytes out of base64 text, where it cannot be anything else."""

import re
from base64 import b64decode
from binascii import Error
from typing import Final

from openmsmq.wire.dissect import is_ping
from openmsmq.wire.packets.ping import PING_SIZE

_ALPHABET: Final = re.compile(r"[A-Za-z0-9+/_=-]+")
_BEHIND_PADDING: Final = re.compile(r"(?<==)(?!=)")
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_URL_SAFE: Final = str.maketrans("-_", "+/")
_SIGNATURE: Final = b"LIOR"


def parse_base64(text: str) -> list[bytes]:
    """The bytes in a text; none unless every part of it begins with a packet."""
    joined = "".join(text.split())
    if _HEX.fullmatch(joined) or not _ALPHABET.fullmatch(joined):
        return []
    parts = _BEHIND_PADDING.split(joined.translate(_URL_SAFE))
    try:
        pieces = [b64decode(part, validate=True) for part in parts if part]
    except Error:
        return []
    return pieces if all(map(_begins_packet, pieces)) else []


def _begins_packet(data: bytes) -> bool:
    return data[4:8] == _SIGNATURE or is_ping(data[:PING_SIZE])
