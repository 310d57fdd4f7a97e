"""Expand Format Name ([MS-MQDMPR] 3.1.7.3.8): distribution lists become the queues they name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

from openmsmq.core.sites.site_collection import read_object
from openmsmq.directory.objects import DistributionList, ElementType
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.format_name import (
    DistributionListFormatName,
    FormatName,
    MultipleElementFormatName,
    SingleFormatName,
    parse_format_name,
)

if TYPE_CHECKING:
    from openmsmq.core.state import State


# The format names of a distribution list, some maybe lists again; None if there is no such list.
Members: TypeAlias = Callable[[UUID], Sequence[str] | None]


def read_members(state: State, identifier: UUID) -> Sequence[str] | None:
    """The format names of a distribution list, None when the directory does not give it."""
    found = read_object(state, ElementType.DISTRIBUTION_LIST, identifier)
    return found.members if isinstance(found, DistributionList) else None


def expand(name: FormatName, members_of: Members) -> FormatName:
    """The single names that a name stands for, sorted, each once.

    The domain of a distribution list says where to look, and there is one directory only.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME, a distribution list cannot be resolved.
    """
    if not isinstance(name, DistributionListFormatName | MultipleElementFormatName):
        return name
    found: dict[str, SingleFormatName] = {}
    _collect(name, members_of, found, set())
    names = [found[key] for key in sorted(found)]
    if len(names) == 1:
        return names[0]
    if not names:
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, f"{name} has no members")
    return MultipleElementFormatName(tuple(names))


def _collect(
    name: FormatName,
    members_of: Members,
    found: dict[str, SingleFormatName],
    open_lists: set[str],
) -> None:
    if isinstance(name, MultipleElementFormatName):
        for element in name.elements:
            _collect(element, members_of, found, open_lists)
    elif isinstance(name, DistributionListFormatName):
        # A list that contains itself adds nothing the second time.
        if name.key in open_lists:
            return
        open_lists.add(name.key)
        members = members_of(name.guid)
        if members is None:
            raise QueueError(Hresult.MQ_ERROR_ILLEGAL_FORMATNAME, f"{name} is not known")
        for member in members:
            _collect(parse_format_name(member), members_of, found, open_lists)
    else:
        found.setdefault(name.key, name)
