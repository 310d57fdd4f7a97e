"""Packets in a column of Parquet files; unreadable parts of a file are gaps."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import PipelineError
from .packet_files import FileKind, FileRange, PacketKind, Piece

BLOCK_ROWS: Final = 2000
BLOCK_BYTES: Final = 4 << 20
_UNREADABLE: Final = (OSError, pa.ArrowException)


def check_column(paths: Iterable[Path], column: str) -> None:
    """See that a column has packets in one of these files at least, of those that can be read.

    Raises:
        PipelineError: it is in none of them, or none has bytes in it.
    """
    faults: list[PipelineError] = []
    for path in paths:
        try:
            schema = pq.read_schema(path)
        except _UNREADABLE:
            continue
        fault = _fault(path, schema, column)
        if fault is None:
            return
        faults.append(fault)
    if faults:
        raise faults[0]


def _fault(path: Path, schema: pa.Schema, column: str) -> PipelineError | None:
    if column not in schema.names:
        return PipelineError(
            f"{path} has no column {column!r}",
            cause=f"Its columns are {', '.join(schema.names)}.",
            remedy="Name the column that has the packets.",
        )
    kind = schema.field(column).type
    stored = kind.value_type if pa.types.is_dictionary(kind) else kind
    if _is_bytes(stored):
        return None
    return PipelineError(
        f"the column {column!r} of {path} is of the type {kind}, and packets are binary",
        cause="Packets that were made text of, such as hexadecimal digits, are not read as such.",
        remedy="Name a column of the type binary, or change this one: unhex() and unbase64() of "
        "Spark do.",
    )


def _is_bytes(kind: pa.DataType) -> bool:
    kinds = pa.types
    checks = (kinds.is_binary, kinds.is_large_binary, kinds.is_binary_view)
    return any(check(kind) for check in (*checks, kinds.is_fixed_size_binary))


def row_group_ranges(path: Path, range_bytes: int) -> list[FileRange]:
    """Ranges of row groups of about this size; the whole file where they cannot be read."""
    whole = [FileRange(str(path), FileKind.PARQUET)]
    try:
        metadata = pq.read_metadata(path)
    except _UNREADABLE:
        return whole
    ranges: list[FileRange] = []
    start = size = 0
    for group in range(metadata.num_row_groups):
        size += metadata.row_group(group).total_byte_size
        if size >= range_bytes or group + 1 == metadata.num_row_groups:
            ranges.append(FileRange(str(path), FileKind.PARQUET, start, group + 1))
            start, size = group + 1, 0
    return ranges or whole


def column_pieces(part: FileRange, column: str) -> Iterator[Piece]:
    """The packets of a range of row groups; `offset` is the row."""
    path = Path(part.path)
    try:
        file = pq.ParquetFile(path)
    except _UNREADABLE as exc:
        yield Piece(PacketKind.GAP, 0, b"", f"the Parquet file cannot be read: {exc}")
        return
    with file:
        fault = _fault(path, file.schema_arrow, column)
        if fault is not None:
            yield Piece(PacketKind.GAP, 0, b"", fault.detail)
            return
        row = 0
        for group in range(part.end or file.num_row_groups):
            if group >= part.start:
                yield from _group_pieces(file, group, row, column)
            row += file.metadata.row_group(group).num_rows


def _group_pieces(file: pq.ParquetFile, group: int, row: int, column: str) -> Iterator[Piece]:
    count = _rows_at_once(file, group)
    try:
        for batch in file.iter_batches(count, [group], [column], use_threads=False):
            for packet in batch.column(0).to_pylist():
                if packet is None:
                    yield Piece(PacketKind.MALFORMED, row, b"", "there is no packet")
                else:
                    yield Piece(PacketKind.MESSAGE, row, packet)
                row += 1
    except _UNREADABLE as exc:
        problem = f"row group {group} of the Parquet file cannot be read further: {exc}"
        yield Piece(PacketKind.GAP, row, b"", problem)


def _rows_at_once(file: pq.ParquetFile, group: int) -> int:
    """So many rows as fit into a block, by the average of the row group."""
    metadata = file.metadata.row_group(group)
    average: int = metadata.total_byte_size // max(metadata.num_rows, 1)
    return max(1, min(BLOCK_ROWS, BLOCK_BYTES // max(average, 1)))
