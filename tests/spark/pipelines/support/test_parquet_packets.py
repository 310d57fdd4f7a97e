"""Packets in a column of Parquet files."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.packet_files import FileKind, FileRange, PacketKind, Piece
from openmsmq.spark.pipelines.support.parquet_packets import (
    check_column,
    column_pieces,
    row_group_ranges,
)

MESSAGE, GAP = PacketKind.MESSAGE, PacketKind.GAP


def table(path: Path, values: list[bytes | None], rows: int = 1000) -> Path:
    pq.write_table(pa.table({"p": pa.array(values, pa.binary())}), path, row_group_size=rows)
    return path


def read(path: Path, start: int = 0, end: int = 0) -> list[Piece]:
    return list(column_pieces(FileRange(str(path), FileKind.PARQUET, start, end), "p"))


def test_each_row_is_a_piece_and_null_is_malformed(tmp_path: Path) -> None:
    path = table(tmp_path / "a", [b"one", None, b"three"], rows=2)
    assert read(path) == [
        Piece(MESSAGE, 0, b"one"),
        Piece(PacketKind.MALFORMED, 1, b"", "there is no packet"),
        Piece(MESSAGE, 2, b"three"),
    ]
    assert read(path, 1, 2) == [Piece(MESSAGE, 2, b"three")]


def test_large_packets_are_read_in_small_blocks(tmp_path: Path) -> None:
    large = [bytes([number]) * (3 << 20) for number in range(3)]
    assert [piece.data for piece in read(table(tmp_path / "a", list(large)))] == large


def test_ranges_are_whole_row_groups(tmp_path: Path) -> None:
    path = table(tmp_path / "a", [bytes([n]) * 1000 for n in range(10)], rows=2)
    found = row_group_ranges(path, pq.read_metadata(path).row_group(0).total_byte_size * 3 // 2)
    assert [(each.start, each.end) for each in found] == [(0, 2), (2, 4), (4, 5)]
    rows = [piece.offset for each in found for piece in read(path, each.start, each.end)]
    assert rows == list(range(10))


@pytest.mark.parametrize("data", [b"PAR1" + bytes(100), b"PAR1", b"PAR1" + b"\xff" * 8 + b"PAR1"])
def test_a_file_without_a_footer_is_one_gap(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    ((kind, offset, kept, problem, *_),) = read(path)
    assert (kind, offset, kept) == (GAP, 0, b"")
    assert problem is not None
    assert problem.startswith("the Parquet file cannot be read: ")
    assert row_group_ranges(path, 10) == [FileRange(str(path), FileKind.PARQUET)]
    check_column([path], "p")


def test_a_damaged_row_group_does_not_stop_the_others(tmp_path: Path) -> None:
    path = table(tmp_path / "a", [b"one", b"two", b"three"], rows=1)
    place = pq.read_metadata(path).row_group(1).column(0).dictionary_page_offset
    data = path.read_bytes()
    path.write_bytes(data[:place] + b"\xff" * 20 + data[place + 20 :])
    found = read(path)
    assert [(piece.kind, piece.offset) for piece in found] == [(MESSAGE, 0), (GAP, 1), (MESSAGE, 2)]
    assert "row group 1" in (found[1].problem or "")


def test_one_file_with_the_column_is_enough_and_others_are_gaps(tmp_path: Path) -> None:
    other = tmp_path / "other"
    pq.write_table(pa.table({"q": [b"x"]}), other)
    check_column([other, table(tmp_path / "a", [b"x"])], "p")
    (gap,) = read(other)
    assert (gap.kind, gap.problem) == (GAP, f"{other} has no column 'p'")
    with pytest.raises(PipelineError, match="no column 'p'") as caught:
        check_column([other], "p")
    assert caught.value.cause == "Its columns are q."


def test_a_column_of_text_is_refused_with_what_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "a"
    pq.write_table(pa.table({"p": ["4c494f52"]}), path)
    with pytest.raises(PipelineError, match="type string, and packets are binary") as caught:
        check_column([path], "p")
    assert "unhex" in caught.value.remedy
    for kind in (pa.large_binary(), pa.binary(4), pa.dictionary(pa.int32(), pa.binary())):
        pq.write_table(pa.table({"p": pa.array([b"abcd"]).cast(kind)}), path)
        check_column([path], "p")
        assert read(path) == [Piece(MESSAGE, 0, b"abcd")]
