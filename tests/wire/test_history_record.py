"""Records of the history: written, read back, and cut off anywhere."""

from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.history_record import (
    MAX_NAME,
    RECORD_SIZE,
    Happening,
    HistoryReader,
    HistoryRecord,
    pack_name,
)

records = st.builds(
    HistoryRecord,
    st.sampled_from([each for each in Happening if each]),
    st.integers(0, 0xFFFF),
    st.integers(1, 5),
    st.floats(0, 2**32),
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.binary(min_size=16, max_size=16),
)


@given(st.lists(records), st.text(max_size=100))
def test_records_are_read_as_they_were_written(written: list[HistoryRecord], name: str) -> None:
    data = b"".join([each.serialize() for each in written])
    reader = HistoryReader()
    assert list(reader.read(pack_name(1, name) + data)) == written
    assert reader.names[1] == name.encode("utf-8", "replace").decode()


def test_a_long_name_is_cut() -> None:
    reader = HistoryReader()
    assert list(reader.read(pack_name(7, "x" * 10_000))) == []
    assert reader.names == {7: "x" * MAX_NAME}


@given(st.binary(max_size=4 * RECORD_SIZE))
def test_damage_is_never_an_error(data: bytes) -> None:
    assert len(list(HistoryReader().read(data))) <= 4


def test_a_name_may_be_cut_off() -> None:
    reader = HistoryReader()
    data = pack_name(1, "orders" * 20)
    assert list(reader.read(data[: RECORD_SIZE + 10])) == []
    assert reader.names[1].startswith("orders")
