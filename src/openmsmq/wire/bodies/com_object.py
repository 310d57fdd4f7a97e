"""Persisted COM objects: never instantiated, only told apart by their class."""

from dataclasses import dataclass
from struct import Struct
from typing import Final
from uuid import UUID

from openmsmq.wire.scalars import GUID_SIZE

_COMPOUND_FILE: Final = bytes.fromhex("D0CF11E0A1B11AE1")
_U16: Final = Struct("<H")
_U32: Final = Struct("<I")
# [MS-CFB] 2.2, 2.6.1: where the header says how large sectors are and where the directory begins,
# and where an entry of the directory keeps its class.
_SECTOR_SHIFT: Final = 30
_FIRST_DIRECTORY_SECTOR: Final = 48
_ENTRY_CLSID: Final = 80
_SECTOR_SHIFTS: Final = (9, 12)
_HEADER_SIZE: Final = 512


@dataclass(frozen=True, slots=True)
class ComObject:
    """The class of an object, if it can be seen, and its bytes."""

    clsid: UUID | None
    data: bytes


def read_com_object(data: bytes) -> ComObject:
    """A stream begins with the class; a storage keeps it in the root of its directory."""
    position = _root_clsid(data) if data.startswith(_COMPOUND_FILE) else 0
    clsid = data[position : position + GUID_SIZE]
    return ComObject(UUID(bytes_le=clsid) if len(clsid) == GUID_SIZE else None, data)


def _root_clsid(data: bytes) -> int:
    if len(data) < _HEADER_SIZE:
        return len(data)
    shift: int = _U16.unpack_from(data, _SECTOR_SHIFT)[0]
    sector: int = _U32.unpack_from(data, _FIRST_DIRECTORY_SECTOR)[0]
    if shift not in _SECTOR_SHIFTS:
        return len(data)
    return (sector + 1 << shift) + _ENTRY_CLSID
