"""Distinguished names of directory objects, in the places where Active Directory keeps them."""

import re
from typing import Final

from .objects import QueueManagerObject, QueueObject, RoutingLink, Site

# RFC 4514 section 2.4: these end or split a name unless they are escaped.
SPECIAL: Final = re.compile(r'[",;<>=+\\\x00]')
DEFAULT_ENTERPRISE: Final = "openmsmq"


def distinguished_name(
    item: QueueManagerObject | QueueObject | Site | RoutingLink, enterprise: str
) -> str:
    """The place of an object in the directory of an enterprise."""
    parts = [*_relative_names(item), ("O", enterprise or DEFAULT_ENTERPRISE)]
    return ",".join(f"{kind}={_escape(name)}" for kind, name in parts)


def _relative_names(
    item: QueueManagerObject | QueueObject | Site | RoutingLink,
) -> list[tuple[str, str]]:
    if isinstance(item, QueueManagerObject):
        names = ["msmq", item.computer_name, "Computers"]
    elif isinstance(item, QueueObject):
        computer, _, queue = item.pathname.partition("\\")
        names = [queue, "msmq", computer, "Computers"]
    elif isinstance(item, Site):
        names = [item.name, "Sites", "Configuration"]
    else:
        link = item.site1_identifier.hex + item.site2_identifier.hex
        names = [link, "MsmqServices", "Services", "Configuration"]
    return [("CN", name) for name in names]


def _escape(name: str) -> str:
    escaped = SPECIAL.sub(lambda match: f"\\{ord(match[0]):02X}", name)
    if escaped.startswith(("#", " ")):
        escaped = "\\" + escaped
    return escaped[:-1] + "\\20" if escaped.endswith(" ") and len(name) > 1 else escaped
