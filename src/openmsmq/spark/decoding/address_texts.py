"""Columns of format names from the queue addresses of many packets."""

from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from openmsmq.client.received_message import name_text
from openmsmq.wire.names.queue_address import (
    QueueAddressType,
    direct_address,
    private_address,
    public_address,
)
from openmsmq.wire.scalars import GUID_SIZE, guid
from openmsmq.wire.wide_text import lenient_text

from .blob import Offsets, Records, fixed_size_array
from .packet_layout import COUNT_SIZE, U32, Addresses, PacketLayout
from .texts import TextColumn

_GUID: Final = np.dtype("V16")
_PRIVATE: Final = np.dtype([("guid", "V16"), ("number", "<u4")])


def destination_texts(layout: PacketLayout) -> pa.StringArray:
    """Format names of the destination queues."""
    return _texts(layout, layout.destination)


def admin_texts(layout: PacketLayout) -> pa.StringArray:
    """Format names of the administration queues."""
    return _texts(layout, layout.admin)


def response_texts(layout: PacketLayout) -> pa.StringArray:
    """Format names of the response queues."""
    same = layout.response.types == QueueAddressType.SAME_AS_ADMIN
    pairs = zip(layout.admin, layout.response, strict=True)
    return _texts(layout, Addresses(*(np.where(same, admin, own) for admin, own in pairs)))


def _texts(layout: PacketLayout, addresses: Addresses) -> pa.StringArray:
    types, at, counts = addresses
    column = TextColumn(len(layout))
    for kind in np.flatnonzero(np.bincount(types, minlength=8)).tolist():
        rows = np.flatnonzero(types == kind)
        match kind:
            case QueueAddressType.DIRECT:
                names = at[rows] + COUNT_SIZE
                values = layout.blob.slices(names, names + counts[rows])
                column.add(rows, values, _direct_text)
            case QueueAddressType.PUBLIC:
                guids = layout.blob.records(_GUID, at[rows])
                column.add(rows, fixed_size_array(guids), _public_text)
            case QueueAddressType.PRIVATE_ON_ADMIN:
                _add_private_on_admin(layout, at, rows, column)
            case QueueAddressType.PRIVATE_ON_OTHER:
                names = layout.blob.records(_PRIVATE, at[rows])
                column.add(rows, fixed_size_array(names), _private_text)
            case QueueAddressType.PRIVATE_ON_SOURCE | QueueAddressType.PRIVATE_ON_DESTINATION:
                _add_private(layout, at, rows, _owners(layout, rows, kind), column)
    return column.finish()


def _add_private_on_admin(
    layout: PacketLayout, at: Offsets, rows: Offsets, column: TextColumn
) -> None:
    """Add queues of the queue manager that the administration queue is on, where it says which."""
    types = layout.admin.types[rows]
    for kind in (
        QueueAddressType.PRIVATE_ON_SOURCE,
        QueueAddressType.PRIVATE_ON_DESTINATION,
        QueueAddressType.PRIVATE_ON_OTHER,
    ):
        some = rows[types == kind]
        _add_private(layout, at, some, _owners(layout, some, kind), column)


def _owners(layout: PacketLayout, rows: Offsets, kind: int) -> Records:
    """GUIDs of the queue managers of administration queues of this type."""
    if kind == QueueAddressType.PRIVATE_ON_SOURCE:
        return layout.head["source_queue_manager"][rows]
    if kind == QueueAddressType.PRIVATE_ON_DESTINATION:
        return layout.head["queue_manager_address"][rows]
    return layout.blob.records(_GUID, layout.admin.at[rows])


def _add_private(
    layout: PacketLayout, at: Offsets, rows: Offsets, owners: Records, column: TextColumn
) -> None:
    addresses = np.empty(len(rows), _PRIVATE)
    addresses["guid"] = owners
    addresses["number"] = layout.blob.records(U32, at[rows])
    column.add(rows, fixed_size_array(addresses), _private_text)


# The same few queues turn up in every block, and reading a format name takes long.
@lru_cache(maxsize=4096)
def _direct_text(raw: bytes) -> str | None:
    return name_text(direct_address(lenient_text(raw)))


@lru_cache(maxsize=4096)
def _public_text(raw: bytes) -> str | None:
    return name_text(public_address(guid(raw)))


@lru_cache(maxsize=4096)
def _private_text(raw: bytes) -> str | None:
    number = int.from_bytes(raw[GUID_SIZE:], "little")
    return name_text(private_address(guid(raw[:GUID_SIZE]), number))
