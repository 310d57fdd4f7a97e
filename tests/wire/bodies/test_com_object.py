"""Persisted COM objects."""

from struct import pack_into
from uuid import UUID

import pytest

from openmsmq.wire.bodies.com_object import ComObject, read_com_object

CLSID = UUID("00020906-0000-0000-c000-000000000046")


def compound_file(shift: int, sector: int, size: int) -> bytearray:
    data = bytearray(size)
    data[:8] = bytes.fromhex("D0CF11E0A1B11AE1")
    pack_into("<H", data, 30, shift)
    pack_into("<I", data, 48, sector)
    return data


def test_a_stream_begins_with_its_class() -> None:
    data = CLSID.bytes_le + b"state"
    assert read_com_object(data) == ComObject(CLSID, data)


@pytest.mark.parametrize(("shift", "at"), [(9, 3 * 512), (12, 3 * 4096)])
def test_a_storage_keeps_its_class_in_the_root_of_its_directory(shift: int, at: int) -> None:
    data = compound_file(shift, 2, at + 128)
    data[at + 80 : at + 96] = CLSID.bytes_le
    assert read_com_object(bytes(data)).clsid == CLSID


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"fifteen bytes..",
        bytes(compound_file(9, 0, 512))[:100],
        bytes(compound_file(9, 0xFFFFFFFE, 1024)),
        bytes(compound_file(31, 0, 1024)),
    ],
)
def test_an_object_without_a_class_is_bytes_only(data: bytes) -> None:
    assert read_com_object(data) == ComObject(None, data)
