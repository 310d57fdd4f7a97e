"""Expand Format Name ([MS-MQDMPR] 3.1.7.3.8): distribution lists become the queues they name."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from openmsmq.wire.format_name import (
    DistributionListFormatName,
    FormatName,
    MultipleElementFormatName,
    SingleFormatName,
    parse_format_name,
)
from openmsmq.wire.hresult import Hresult
from openmsmq.wire.queue_error import QueueError


class DistributionLists(Protocol):
    """Where distribution lists are looked up."""

    def members(self, guid: UUID, domain: str) -> Sequence[str] | None:
        """The format names of a list, which may be lists again; None if there is no such list."""


def expand(name: FormatName, lists: DistributionLists | None) -> FormatName:
    """The single names behind a name, sorted, each once.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME, a distribution list cannot be resolved.
    """
    if not isinstance(name, DistributionListFormatName | MultipleElementFormatName):
        return name
    found: dict[str, SingleFormatName] = {}
    _collect(name, lists, found, set())
    names = [found[key] for key in sorted(found)]
    if len(names) == 1:
        return names[0]
    if not names:
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, f"{name} has no members")
    return MultipleElementFormatName(tuple(names))


def _collect(
    name: FormatName,
    lists: DistributionLists | None,
    found: dict[str, SingleFormatName],
    open_lists: set[str],
) -> None:
    if isinstance(name, MultipleElementFormatName):
        for element in name.elements:
            _collect(element, lists, found, open_lists)
    elif isinstance(name, DistributionListFormatName):
        # A list that contains itself adds nothing the second time.
        if name.key in open_lists:
            return
        open_lists.add(name.key)
        members = lists.members(name.guid, name.domain) if lists is not None else None
        if members is None:
            raise QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, f"{name} is not known")
        for member in members:
            _collect(parse_format_name(member), lists, found, open_lists)
    else:
        found.setdefault(name.key, name)
