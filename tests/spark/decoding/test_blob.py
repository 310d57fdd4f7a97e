import numpy as np
import pyarrow as pa
import pytest

from openmsmq.spark.decoding import blob
from openmsmq.spark.decoding.blob import Blob, fixed_size_array


def places(*numbers: int) -> blob.Offsets:
    return np.array(numbers, np.int64)


def test_records_are_read_at_any_byte() -> None:
    read = Blob(b"\x00\x01\x00\x02\x00").records(np.dtype("<u2"), places(0, 1, 3))
    assert read.tolist() == [0x100, 1, 2]


def test_a_place_behind_the_end_gives_some_record() -> None:
    assert len(Blob(b"1234").records(np.dtype("<u2"), places(2, 99))) == 2
    assert Blob(b"1").records(np.dtype("<u2"), places(0)).tolist() == [0]


def test_slices_are_copied_without_what_is_between_them() -> None:
    found = Blob(memoryview(b"abcdef")).slices(places(0, 2, 5), places(1, 4, 5))
    assert found.to_pylist() == [b"a", b"cd", b""]
    assert found.type == pa.binary()
    assert Blob(b"").slices(places(), places()).to_pylist() == []


def test_a_blob_that_arrow_cannot_count_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blob, "MAX_BLOB_SIZE", 3)
    Blob(b"123")
    with pytest.raises(ValueError, match="a block of 4 bytes is larger than 3"):
        Blob(b"1234")


def test_records_of_a_larger_one_become_byte_strings() -> None:
    records = np.array([(1, 2), (3, 4)], [("a", "u1"), ("b", "<u2")])
    assert fixed_size_array(records["b"]).to_pylist() == [b"\2\0", b"\4\0"]
