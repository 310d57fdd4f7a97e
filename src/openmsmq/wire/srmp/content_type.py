"""Content-Type of a request: a multipart message with its boundary, or an envelope alone."""

import re
from functools import lru_cache
from typing import Final

from openmsmq.wire.errors import MalformedPacket

ENVELOPE_TYPE: Final = "text/xml"
_MULTIPART: Final = "multipart/related"
# [RFC2046] 5.1.1 has 70.
MAX_BOUNDARY: Final = 200
MAX_CONTENT_TYPE: Final = 1000
_FIELD: Final = "Content-Type"
_PARAMETER: Final = re.compile(
    r"""[ \t]*;[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*"""
    r"""(?:"((?:[^"\\]|\\.)*+)"|([^\s";,]+))[ \t]*"""
)
_QUOTED_PAIR: Final = re.compile(r"\\(.)")
_UTF8: Final = ("utf-8", "utf8", "us-ascii")


def boundary_of(content_type: str) -> bytes | None:
    """The boundary of a multipart message; None if the content is an envelope alone.

    Raises:
        MalformedPacket: it is neither, or the boundary is missing.
    """
    if len(content_type) > MAX_CONTENT_TYPE:
        raise MalformedPacket(_FIELD, 0, f"more than {MAX_CONTENT_TYPE} characters")
    return _boundary_of(content_type)


# Content-Type of Windows differs by the number in the boundary only.
@lru_cache(maxsize=1024)
def _boundary_of(content_type: str) -> bytes | None:
    media_type, parameters = parse_content_type(content_type)
    if media_type == ENVELOPE_TYPE:
        check_charset(parameters)
        return None
    if media_type != _MULTIPART:
        excerpt = media_type[:60]
        raise MalformedPacket(_FIELD, 0, f"{excerpt!r} is not {_MULTIPART} or {ENVELOPE_TYPE}")
    boundary = parameters.get("boundary", "")
    if not boundary or len(boundary) > MAX_BOUNDARY or not boundary.isascii():
        raise MalformedPacket(
            _FIELD, 0, f"the boundary is missing, not ASCII or longer than {MAX_BOUNDARY}"
        )
    return boundary.encode("ascii")


def check_charset(parameters: dict[str, str]) -> None:
    """Refuse an envelope in another encoding than UTF-8."""
    charset = parameters.get("charset", "utf-8")
    if charset.lower() not in _UTF8:
        raise MalformedPacket(_FIELD, 0, f"charset {charset[:60]!r} is not UTF-8")


def parse_content_type(text: str) -> tuple[str, dict[str, str]]:
    """The media type and the parameters by name, both in lower case.

    Raises:
        MalformedPacket: what follows the media type is not a list of parameters, or a parameter is
            there twice.
    """
    semicolon = text.find(";")
    end = len(text) if semicolon < 0 else semicolon
    media_type = text[:end].strip().lower()
    parameters: dict[str, str] = {}
    while end < len(text):
        match = _PARAMETER.match(text, end)
        if match is None:
            if not text[end:].strip(" \t;"):
                break
            raise MalformedPacket(_FIELD, end, "not a parameter of the form name=value")
        name = match[1].lower()
        if name in parameters:
            raise MalformedPacket(_FIELD, end, f"{name} is there twice")
        value = match[3] if match[2] is None else _QUOTED_PAIR.sub(r"\1", match[2])
        parameters[name] = value
        end = match.end()
    return media_type, parameters
