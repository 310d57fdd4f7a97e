r"""Format names of every kind ([MS-MQMQ] 2.1.2-2.1.7): `PUBLIC=`, `PRIVATE=`, `DIRECT=`, ..."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address
from typing import Final
from uuid import UUID

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.limits import MAX_DOMAIN_NAME

from .direct_format_name import DirectFormatName, parse_direct
from .path_name import PathName, parse_path_name
from .queue_name import MACHINE_SUFFIXES, SUFFIX_WORDS, NameText, Suffix

_GUID: Final = re.compile(
    r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
)
_NUMBER: Final = re.compile(r"\\([0-9A-Fa-f]{1,8})")
_DOMAIN: Final = re.compile(rf"@([!-~]{{1,{MAX_DOMAIN_NAME}}})")
_MULTICAST: Final = re.compile(r"([0-9.]{7,15}):([0-9]{1,5})")
_MAX_PORT: Final = 0xFFFF
# Longer names are parsed anew each time, so that the cache stays small.
_MAX_CACHED: Final = 1024


@dataclass(frozen=True, slots=True)
class PublicFormatName:
    """A queue in the directory, by the GUID of its object."""

    guid: UUID
    suffix: Suffix = Suffix.NONE

    @property
    def key(self) -> str:
        return str(self).lower()

    def __str__(self) -> str:
        return f"PUBLIC={_guid_text(self.guid)}{_suffix_text(self.suffix)}"


@dataclass(frozen=True, slots=True)
class PrivateFormatName:
    """A queue of the queue manager `guid`, by its number there."""

    guid: UUID
    number: int
    suffix: Suffix = Suffix.NONE

    @property
    def key(self) -> str:
        return str(self).lower()

    def __str__(self) -> str:
        return f"PRIVATE={_guid_text(self.guid)}\\{self.number:X}{_suffix_text(self.suffix)}"


@dataclass(frozen=True, slots=True)
class DistributionListFormatName:
    """A list of queues in the directory; the domain does not tell two names apart by case."""

    guid: UUID = field(compare=False)
    domain: str = field(default="", compare=False)
    key: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", str(self).lower())

    def __str__(self) -> str:
        return f"DL={_guid_text(self.guid)}{'@' if self.domain else ''}{self.domain}"


@dataclass(frozen=True, slots=True)
class MachineFormatName:
    """A system queue of the queue manager `guid`; the suffix says which."""

    guid: UUID
    suffix: Suffix

    @property
    def key(self) -> str:
        return str(self).lower()

    def __str__(self) -> str:
        return f"MACHINE={_guid_text(self.guid)}{_suffix_text(self.suffix)}"


@dataclass(frozen=True, slots=True)
class ConnectorFormatName:
    """A connector queue of the foreign site `guid`; its transactional one with ;XACTONLY."""

    guid: UUID
    suffix: Suffix = Suffix.NONE

    @property
    def key(self) -> str:
        return str(self).lower()

    def __str__(self) -> str:
        return f"CONNECTOR={_guid_text(self.guid)}{_suffix_text(self.suffix)}"


@dataclass(frozen=True, slots=True)
class MulticastFormatName:
    """All queues that listen to a multicast address."""

    address: IPv4Address
    port: int

    @property
    def key(self) -> str:
        return str(self).lower()

    def __str__(self) -> str:
        return f"MULTICAST={self.address}:{self.port}"


SingleFormatName = (
    PublicFormatName
    | PrivateFormatName
    | DirectFormatName
    | DistributionListFormatName
    | MachineFormatName
    | ConnectorFormatName
    | MulticastFormatName
)


@dataclass(frozen=True, slots=True)
class MultipleElementFormatName:
    """Several destinations of one message, in the order given."""

    elements: tuple[SingleFormatName, ...]

    @property
    def key(self) -> str:
        return str(self).lower()

    def __str__(self) -> str:
        return ",".join(map(str, self.elements))


FormatName = SingleFormatName | MultipleElementFormatName


def parse_format_name(text: str) -> FormatName:
    """Parse a format name of any kind.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME, with what is wrong and where.
    """
    return _cached(text) if len(text) <= _MAX_CACHED else _parse(text)


def is_format_name(text: str) -> bool:
    """Whether the text is meant as a format name: it has a `=` where a path name has a computer."""
    return "=" in text.partition("\\")[0]


def _parse(text: str) -> FormatName:
    source = NameText(text, Hresult.MQ_ERROR_ILLEGAL_FORMATNAME)
    if "," not in text:
        return _parse_single(source, 0, len(text))
    elements = []
    start = 0
    for part in text.split(","):
        # Blanks around the commas are tolerated.
        first = start + len(part) - len(part.lstrip(" "))
        element = _parse_single(source, first, start + len(part.rstrip(" ")))
        if not _may_be_an_element(element):
            reason = "a queue that is only read cannot be an element of several destinations"
            raise source.fault(first, reason)
        elements.append(element)
        start += len(part) + 1
    return MultipleElementFormatName(tuple(elements))


_cached: Final = lru_cache(maxsize=4096)(_parse)


def _parse_single(source: NameText, start: int, end: int) -> SingleFormatName:
    equals = source.text.find("=", start, end)
    parser = _PARSERS.get(source.text[start:equals].upper()) if equals >= 0 else None
    if parser is None:
        raise source.fault(start, f"none of {', '.join(_PARSERS)} with a following `=`")
    return parser(source, equals + 1, end)


def _may_be_an_element(name: SingleFormatName) -> bool:
    if isinstance(name, DirectFormatName):
        return name.queue_name.suffix is Suffix.NONE
    if isinstance(name, PublicFormatName | PrivateFormatName):
        return name.suffix is Suffix.NONE
    return not isinstance(name, MachineFormatName)


def _parse_guid(source: NameText, start: int, end: int) -> tuple[UUID, int]:
    match = _GUID.match(source.text, start, end)
    if match is None:
        raise source.fault(start, "no GUID of the form 12345678-1234-1234-1234-123456789ABC")
    return UUID(match[0]), match.end()


def _parse_suffix(source: NameText, start: int, end: int, allowed: tuple[Suffix, ...]) -> Suffix:
    if start == end and Suffix.NONE in allowed:
        return Suffix.NONE
    suffix = SUFFIX_WORDS.get(source.text[start + 1 : end].upper(), Suffix.NONE)
    if suffix is Suffix.NONE or source.text[start] != ";" or suffix not in allowed:
        words = " or ".join(f";{word.name}" for word in allowed if word is not Suffix.NONE)
        raise source.fault(start, f"only {words} may follow here")
    return suffix


def _parse_public(source: NameText, start: int, end: int) -> PublicFormatName:
    guid, position = _parse_guid(source, start, end)
    return PublicFormatName(guid, _parse_suffix(source, position, end, _QUEUE_SUFFIXES))


def _parse_private(source: NameText, start: int, end: int) -> PrivateFormatName:
    guid, position = _parse_guid(source, start, end)
    match = _NUMBER.match(source.text, position, end)
    if match is None:
        raise source.fault(position, "no backslash and queue number of 1 to 8 hexadecimal digits")
    suffix = _parse_suffix(source, match.end(), end, _QUEUE_SUFFIXES)
    return PrivateFormatName(guid, int(match[1], 16), suffix)


def _parse_distribution_list(source: NameText, start: int, end: int) -> DistributionListFormatName:
    guid, position = _parse_guid(source, start, end)
    if position == end:
        return DistributionListFormatName(guid)
    match = _DOMAIN.fullmatch(source.text, position, end)
    if match is None:
        raise source.fault(position, f"not @ and a domain of up to {MAX_DOMAIN_NAME} characters")
    return DistributionListFormatName(guid, match[1])


def _parse_machine(source: NameText, start: int, end: int) -> MachineFormatName:
    guid, position = _parse_guid(source, start, end)
    return MachineFormatName(guid, _parse_suffix(source, position, end, MACHINE_SUFFIXES))


def _parse_connector(source: NameText, start: int, end: int) -> ConnectorFormatName:
    guid, position = _parse_guid(source, start, end)
    return ConnectorFormatName(guid, _parse_suffix(source, position, end, _CONNECTOR_SUFFIXES))


def _parse_multicast(source: NameText, start: int, end: int) -> MulticastFormatName:
    match = _MULTICAST.fullmatch(source.text, start, end)
    if match is None:
        raise source.fault(start, "no multicast address and port of the form 234.1.1.1:8001")
    try:
        address = IPv4Address(match[1])
    except AddressValueError as exc:
        raise source.fault(start, f"{match[1]} is not an IPv4 address") from exc
    if not address.is_multicast:
        raise source.fault(start, f"{address} is not in 224.0.0.0 to 239.255.255.255")
    port = int(match[2])
    if port > _MAX_PORT:
        raise source.fault(match.start(2), f"port {port} is not in 0..{_MAX_PORT}")
    return MulticastFormatName(address, port)


_QUEUE_SUFFIXES: Final = (Suffix.NONE, Suffix.JOURNAL)
_CONNECTOR_SUFFIXES: Final = (Suffix.NONE, Suffix.XACTONLY)
_PARSERS: Final[dict[str, Callable[[NameText, int, int], SingleFormatName]]] = {
    "PUBLIC": _parse_public,
    "PRIVATE": _parse_private,
    "DIRECT": parse_direct,
    "DL": _parse_distribution_list,
    "MACHINE": _parse_machine,
    "CONNECTOR": _parse_connector,
    "MULTICAST": _parse_multicast,
}


def _guid_text(guid: UUID) -> str:
    return str(guid).upper()


def _suffix_text(suffix: Suffix) -> str:
    return f";{suffix.name}" if suffix else ""


# .NET's MessageQueue.Path marks format names so.
_DOT_NET_PREFIX: Final = "FORMATNAME:"


def parse_queue_reference(text: str) -> PathName | FormatName:
    """Parse a path name or a format name, whichever it is.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME or MQ_ERROR_ILLEGAL_QUEUE_PATHNAME, with what is
            wrong and where.
    """
    if text[: len(_DOT_NET_PREFIX)].upper() == _DOT_NET_PREFIX:
        return parse_format_name(text[len(_DOT_NET_PREFIX) :])
    return parse_format_name(text) if is_format_name(text) else parse_path_name(text)
