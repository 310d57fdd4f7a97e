"""Addresses of packets as format names."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.queue_address import QueueAddress
from openmsmq.wire.names.queue_address_names import format_name_of

_MAX_CACHED_NAME: Final = 512
# What lenient decoding leaves of half a pair, and what Unicode keeps for no text at all: bytes
# that were overwritten look like this.
_NO_TEXT: Final = re.compile("[\ufffd\ufdd0-\ufdef\ufffe\uffff]")


class ShownName(NamedTuple):
    """A format name, and why it is none if it is none."""

    text: str
    fault: str = ""


def show_name(address: QueueAddress) -> ShownName:
    """An address that a `UserMessage` gives, as a format name."""
    if len(address.direct or "") > _MAX_CACHED_NAME:
        return _show(address)
    return _cached(address)


def _show(address: QueueAddress) -> ShownName:
    # As it stands in the packet: a parsed name may be spelt in another way.
    direct = "" if address.direct is None else f"DIRECT={address.direct}"
    try:
        name = format_name_of(address)
    except QueueError as exc:
        return ShownName(direct, f"not a valid name: {exc.detail}")
    damaged = _NO_TEXT.search(direct)
    if damaged is not None:
        return ShownName(direct, f"not a valid name: it holds U+{ord(damaged[0]):04X}")
    return ShownName(direct or str(name))


# Most messages go to few queues.
_cached: Final = lru_cache(maxsize=1024)(_show)
