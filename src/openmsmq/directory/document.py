"""The text of a local-file directory: JSON, one list per type of object, every field checked."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Final, TypeVar, get_type_hints
from uuid import UUID

from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.security.sid import SID

from .objects import (
    OBJECT_CLASSES,
    OBJECT_TYPES,
    DirectoryObject,
    DirectoryServerType,
    ElementType,
    OperatingSystemType,
)
from .rules import find_fault, unique_key

FORMAT: Final = "openmsmq directory"
VERSION: Final = 1
SECTIONS: Final = {
    ElementType.ENTERPRISE: "enterprise",
    ElementType.SITE: "sites",
    ElementType.ROUTING_LINK: "routing_links",
    ElementType.CONNECTED_NETWORK: "connected_networks",
    ElementType.QUEUE_MANAGER: "queue_managers",
    ElementType.QUEUE: "queues",
    ElementType.USER: "users",
    ElementType.DISTRIBUTION_LIST: "distribution_lists",
}


@dataclass(slots=True)
class Document:
    """All objects of a directory by type and identifier, in the order of the file."""

    objects: dict[ElementType, dict[UUID, DirectoryObject]] = field(
        default_factory=lambda: {kind: {} for kind in ElementType}
    )

    def of(self, item: DirectoryObject) -> dict[UUID, DirectoryObject]:
        """The objects of the same type."""
        return self.objects[OBJECT_TYPES[type(item)]]

    def conflict(self, item: DirectoryObject) -> str:
        """Which unique attribute of the object another one has already, or nothing."""
        name, key = unique_key(item)
        for other in self.of(item).values():
            if other.identifier != item.identifier and unique_key(other)[1] == key:
                return name
        return ""


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("is not a text")
    return value


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("is not a whole number")
    return value


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("is not true or false")
    return value


def _octets(value: object) -> bytes:
    try:
        return base64.b64decode(_text(value), validate=True)
    except ValueError as exc:
        raise ValueError("is not base64") from exc


def _guid(value: object) -> UUID:
    try:
        return UUID(_text(value))
    except ValueError as exc:
        raise ValueError("is not a GUID") from exc


def _sid(value: object) -> SID:
    try:
        return SID.from_text(_text(value))
    except ValueError as exc:
        raise ValueError("is not a SID") from exc


# Any: a list of what `decode` gives.
def _listing(decode: Callable[[object], Any]) -> Callable[[object], tuple[Any, ...]]:
    def listing(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise TypeError("is not a list")
        return tuple(decode(item) for item in value)

    return listing


def _choice(enumeration: type[StrEnum]) -> Callable[[object], StrEnum]:
    def choice(value: object) -> StrEnum:
        try:
            return enumeration(_text(value))
        except ValueError as exc:
            raise ValueError(f"must be one of {', '.join(enumeration)}") from exc

    return choice


def _privacy_level(value: object) -> QueuePrivacyLevel:
    try:
        return QueuePrivacyLevel[_text(value).upper()]
    except KeyError as exc:
        raise ValueError("must be one of none, optional, body") from exc


def _optional(decode: Callable[[object], Any]) -> Callable[[object], Any]:
    return lambda value: None if value is None else decode(value)


# The type of a field as its class declares it, and how its JSON value is read.
DECODERS: Final[dict[object, Callable[[object], Any]]] = {
    str: _text,
    int: _integer,
    bool: _boolean,
    bytes: _octets,
    UUID: _guid,
    SID: _sid,
    tuple[UUID, ...]: _listing(_guid),
    tuple[bytes, ...]: _listing(_octets),
    tuple[SID, ...]: _listing(_sid),
    tuple[str, ...]: _listing(_text),
    str | None: _optional(_text),
    bool | None: _optional(_boolean),
    OperatingSystemType: _choice(OperatingSystemType),
    QueuePrivacyLevel: _privacy_level,
    DirectoryServerType | None: _optional(_choice(DirectoryServerType)),
}
FIELD_TYPES: Final[dict[type, dict[str, Any]]] = {cls: get_type_hints(cls) for cls in OBJECT_TYPES}
Item = TypeVar("Item", bound=DirectoryObject)


def parse_document(content: bytes, source: str) -> Document:
    """Read the text of a directory; `source` is the name of the file, for errors.

    Raises:
        ConfigError: the text is damaged or of a later version; the error names file and field.
    """
    try:
        root = json.loads(content)
    except (ValueError, RecursionError) as exc:
        raise ConfigError(f"{source}: not JSON: {exc}") from exc
    if not isinstance(root, dict) or root.get("format") != FORMAT:
        raise ConfigError(f"{source}: format: is not {FORMAT!r}")
    if root.get("version") != VERSION:
        raise ConfigError(f"{source}: version: {root.get('version')!r} is not {VERSION}")
    for name in root.keys() - SECTIONS.values() - {"format", "version"}:
        raise ConfigError(f"{source}: {name}: there is no such section")
    document = Document()
    for kind, section in SECTIONS.items():
        items = root.get(section, [])
        if not isinstance(items, list):
            raise ConfigError(f"{source}: {section}: is not a list")
        for index, raw in enumerate(items):
            _add(document, kind, raw, f"{source}: {section}[{index}]")
    return document


def _add(document: Document, kind: ElementType, raw: object, where: str) -> None:
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: is not an object")
    item = decode_object(OBJECT_CLASSES[kind], raw, where)
    name, reason = find_fault(item)
    if reason:
        raise ConfigError(f"{where}.{name}: {reason}")
    if any(item.identifier in known for known in document.objects.values()):
        raise ConfigError(f"{where}.identifier: {item.identifier} is there already")
    conflict = document.conflict(item)
    if conflict:
        raise ConfigError(f"{where}.{conflict}: another object has it already")
    document.of(item)[item.identifier] = item


def decode_object(cls: type[Item], raw: dict[str, object], where: str) -> Item:
    """An object from its fields as JSON has them; `where` says where they stand, for errors.

    Raises:
        ConfigError: a field is unknown or its value cannot be used; the error names it.
    """
    item = cls()
    types = FIELD_TYPES[cls]
    for name, value in raw.items():
        if name not in types:
            raise ConfigError(f"{where}.{name}: there is no such field")
        try:
            setattr(item, name, DECODERS[types[name]](value))
        except (TypeError, ValueError) as exc:
            raise ConfigError(f"{where}.{name}: {exc}") from exc
    return item


def render_document(document: Document) -> bytes:
    """The text of a directory."""
    root: dict[str, object] = {"format": FORMAT, "version": VERSION}
    for kind, section in SECTIONS.items():
        root[section] = [encode_object(item) for item in document.objects[kind].values()]
    return json.dumps(root, indent=2).encode() + b"\n"


def encode_object(item: DirectoryObject) -> dict[str, object]:
    """The fields of an object as JSON has them; what has its default value is left out."""
    raw: dict[str, object] = {}
    for item_field in fields(item):
        value = getattr(item, item_field.name)
        if value != item_field.default:
            raw[item_field.name] = _plain(value)
    return raw


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, (UUID, SID)):
        return str(value)
    if isinstance(value, QueuePrivacyLevel):
        return value.name.lower()
    return value
