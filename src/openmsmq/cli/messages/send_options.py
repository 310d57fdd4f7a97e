"""The values of the options of `openmsmq send`, checked before anything is sent."""

from datetime import datetime
from typing import Final
from uuid import UUID

import typer

from openmsmq.wire.message.body_type import BodyType
from openmsmq.wire.scalars import MessageIdentifier

# Later than any time that a packet can carry.
INFINITE: Final = -1
SIGNATURE_VERSIONS: Final = ("1.0", "2.0", "3.0", "xml")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
# The two largest values of the field have a meaning of their own.
_MAX_SECONDS: Final = 0xFFFFFFFD
_U32_MAX: Final = 0xFFFFFFFF


def parse_delay(text: str) -> int:
    """Seconds, with a unit also minutes, hours or days.

    Raises:
        BadParameter: the text is no such time, or has no end.
    """
    seconds = parse_duration(text)
    if seconds == INFINITE:
        raise typer.BadParameter("a message cannot be delayed for ever")
    return seconds


def parse_moment(text: str) -> datetime:
    """A time in ISO 8601; one without a time zone is local.

    Raises:
        BadParameter: the text is no such time.
    """
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError as exc:
        raise typer.BadParameter(
            f"{text!r} is not a time like '2026-05-01 08:00' or 2026-05-01T06:00:00Z"
        ) from exc


def parse_duration(text: str) -> int:
    """Seconds, with a unit also minutes, hours or days; INFINITE for `infinite`.

    Raises:
        BadParameter: the text is no such time.
    """
    if text.lower() == "infinite":
        return INFINITE
    digits = text[:-1] if text[-1:] in _UNITS else text
    if not (digits.isascii() and digits.isdigit()):
        raise typer.BadParameter(
            f"{text!r} is not a number of seconds, nor like 90s, 5m, 12h, 4d, nor 'infinite'"
        )
    seconds = int(digits) * _UNITS.get(text[-1:], 1)
    if seconds > _MAX_SECONDS:
        raise typer.BadParameter(f"{text} is longer than {_MAX_SECONDS} seconds; say 'infinite'")
    return seconds


def parse_acknowledge(text: str) -> int:
    """The flags that words such as `arrival,receive` mean.

    Raises:
        BadParameter: a word is unknown.
    """
    # Loaded only here: not for the help.
    from openmsmq.client.message import acknowledge_flags

    try:
        return acknowledge_flags(text)
    except ValueError as exc:
        raise typer.BadParameter(str(exc)) from exc


def complete_acknowledge(incomplete: str) -> list[str]:
    """The words that a shell may complete; the last one of several."""
    from openmsmq.client.message import ACKNOWLEDGE_WORDS

    before, comma, begun = incomplete.rpartition(",")
    return [before + comma + word for word in ACKNOWLEDGE_WORDS if word.startswith(begun)]


def parse_correlation_id(text: str) -> str:
    """The id of a message.

    Raises:
        BadParameter: the text is none.
    """
    try:
        return str(MessageIdentifier.from_text(text))
    except ValueError as exc:
        raise typer.BadParameter(str(exc)) from exc


def parse_body_type(text: str) -> int:
    """The code of a body type by its name, with or without VT_, or as a number.

    Raises:
        BadParameter: there is no such type.
    """
    name = text.upper()
    for known in (name, f"VT_{name}"):
        if known in BodyType.__members__:
            return int(BodyType[known])
    try:
        number = int(text, 0)
    except ValueError:
        number = -1
    if not 0 <= number <= _U32_MAX:
        names = ", ".join(BodyType.__members__)
        raise typer.BadParameter(f"{text!r} is neither a number nor one of {names}")
    return number


def complete_body_type(incomplete: str) -> list[str]:
    """The names that a shell may complete."""
    return [name for name in BodyType.__members__ if name.startswith(incomplete)]


def parse_guid(text: str) -> str:
    """A GUID, with or without braces.

    Raises:
        BadParameter: the text is none.
    """
    try:
        return str(UUID(text))
    except ValueError as exc:
        raise typer.BadParameter(f"{text!r} is not a GUID of a public queue") from exc


def parse_signature(text: str) -> str:
    """The version of a signature.

    Raises:
        BadParameter: there is no such version.
    """
    return _one_of(text, SIGNATURE_VERSIONS)


def parse_hash(text: str) -> str:
    """The hash algorithm of a signature.

    Raises:
        BadParameter: nothing is signed with it.
    """
    from openmsmq.security.signatures.hashes import SIGNING_HASHES

    return _one_of(text.lower().replace("-", ""), SIGNING_HASHES)


def _one_of(text: str, known: tuple[str, ...]) -> str:
    if text not in known:
        raise typer.BadParameter(f"{text!r} must be one of {', '.join(known)}")
    return text
