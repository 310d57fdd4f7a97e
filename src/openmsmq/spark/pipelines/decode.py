"""Decode archives of captured packets and pcap files into rows; malformed ones are kept."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from glob import iglob
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from openmsmq.spark.columns import INCLUDES, TIMESTAMP, Packets, message_schema
from openmsmq.spark.decoding.block_decoder import BlockDecoder
from openmsmq.spark.pipelines.reporting.output import write_outputs
from openmsmq.spark.pipelines.reporting.progress import progress
from openmsmq.spark.pipelines.reporting.summary import (
    Bars,
    Column,
    Inputs,
    Kind,
    Summary,
    Table,
    Tone,
)
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.failures import explained
from openmsmq.spark.pipelines.support.packet_files import (
    FileKind,
    FileRange,
    PacketKind,
    Piece,
    cut_points,
    file_kind,
    pieces,
)
from openmsmq.spark.pipelines.support.parallelism import parallelism
from openmsmq.spark.pipelines.support.parquet_packets import (
    BLOCK_BYTES,
    BLOCK_ROWS,
    check_column,
    column_pieces,
    row_group_ranges,
)
from openmsmq.spark.pipelines.support.spark_paths import literal_path
from openmsmq.terminal.quantities import count_text
from openmsmq.wire.capture import BINARY_PORT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RANGE_BYTES: Final = 64 << 20
FILES_PER_TASK: Final = 500
PACKET_COLUMN: Final = "raw_packet"
MESSAGES: Final = "messages"
KIND: Final = "packet_kind"
PROBLEMS: Final = "problems"
SHOWN_PROBLEMS: Final = 20
# One word for each kind, in cards and charts.
TITLES: Final = {
    PacketKind.MESSAGE: "Messages",
    PacketKind.INTERNAL: "Packets of sessions",
    PacketKind.MALFORMED: "Malformed packets",
    PacketKind.GAP: "Gaps",
}
_ORIGIN: Final = pa.schema(
    [
        (KIND, pa.string()),
        ("source_file", pa.string()),
        ("source_offset", pa.int64()),
        ("capture_time", TIMESTAMP),
        ("sent_from", pa.string()),
        ("sent_to", pa.string()),
    ]
)
_RANGES: Final = "path string, kind string, start bigint, end bigint"


@dataclass(frozen=True, slots=True)
class DecodeResult:
    """What `decode` has found.

    Attributes:
        messages: packets that are messages and could be decoded.
        malformed: packets that are not what they should be; their rows have `decode_error`.
        internal: packets of sessions, which are no messages.
        gaps: places where a capture lacks bytes.
    """

    files: int
    messages: int
    malformed: int
    internal: int
    gaps: int
    seconds: float
    outcome: Summary

    def summary(self) -> Summary:
        """The outcome for people."""
        return self.outcome


def decode(
    spark: "SparkSession",
    paths: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    packet_column: str = PACKET_COLUMN,
    ports: Sequence[int] = (BINARY_PORT,),
    body_format: str = "binary",
    inputs: Inputs = (),
) -> DecodeResult:
    """Decode every packet of these files.

    Args:
        spark: a session whose workers see the files.
        paths: files, directories or patterns: Parquet with a column of packets, pcap and pcapng
            captures, raw packets one after the other, with or without a length before each; all
            but Parquet also compressed with gzip.
        output: directory for the table of messages and the report.
        packet_column: the column of Parquet files that has the packets.
        ports: TCP ports of queue managers in captures.
        body_format: as the option of the data source.
        inputs: what the report says that was read.

    Raises:
        PipelineError: there is nothing to read, or Spark cannot.
    """
    from pyspark.sql import Observation

    started = time.monotonic()
    with progress(spark, "decode", 3) as step, explained():
        step("files")
        files = find_files(paths)
        step("packets")
        frame = packet_rows(
            spark, files, packet_column=packet_column, ports=ports, body_format=body_format
        )
        observation = Observation()
        rows = _observed(frame, observation).filter(f"{KIND} <> '{PacketKind.INTERNAL}'")
        if output is None:
            rows.write.format("noop").mode("overwrite").save()
            problems: list[tuple[Any, ...]] | None = None
        else:
            folder = Path(output).absolute() / MESSAGES
            rows.write.mode("overwrite").parquet(str(folder))
            step("summary")
            problems = _problems(spark.read.parquet(literal_path(folder)))
        counts = {name: int(value or 0) for name, value in observation.get.items()}
    seconds = time.monotonic() - started
    summary = replace(_summary(len(files), counts, problems, seconds), inputs=inputs)
    if output is not None:
        written = (f"Table {MESSAGES}", str(Path(output).absolute() / MESSAGES))
        summary = write_outputs(replace(summary, outputs=(written,)), {}, output)
    return DecodeResult(
        len(files),
        counts[PacketKind.MESSAGE],
        counts[PacketKind.MALFORMED],
        counts[PacketKind.INTERNAL],
        counts[PacketKind.GAP],
        seconds,
        summary,
    )


def find_files(paths: str | Path | Iterable[str | Path]) -> list[tuple[Path, FileKind]]:
    """The files that paths, directories and patterns mean, and what they are.

    Raises:
        PipelineError: there are none.
    """
    places = [paths] if isinstance(paths, str | Path) else list(paths)
    kinds: dict[Path, FileKind] = {}
    for place in places:
        matches = [Path(place)] if Path(place).exists() else _matches(str(place))
        if not matches:
            raise PipelineError(
                f"there is no {place}",
                cause="The path or pattern matches nothing.",
                remedy="Name a file, a directory or a pattern in quotes.",
            )
        for match in matches:
            inside = sorted(match.rglob("*")) if match.is_dir() else [match]
            for path in inside:
                if path.is_file() and not path.name.startswith((".", "_")):
                    kinds[path.absolute()] = file_kind(path)
    if not kinds:
        raise PipelineError(
            f"there are no files in {', '.join(map(str, places))}",
            cause="The directories are empty; names that begin with '.' or '_' do not count.",
            remedy="Name a file or directory that has packets.",
        )
    return list(kinds.items())


def _matches(pattern: str) -> list[Path]:
    # Path.glob takes no pattern that begins at the root.
    return sorted(Path(match) for match in iglob(pattern, recursive=True))  # noqa: PTH207


def packet_rows(
    spark: "SparkSession",
    files: Sequence[tuple[Path, FileKind]],
    *,
    packet_column: str = PACKET_COLUMN,
    ports: Sequence[int] = (BINARY_PORT,),
    body_format: str = "binary",
) -> "DataFrame":
    """A row for each packet: the columns of a message, and where it comes from.

    Raises:
        PipelineError: the column is in none of the Parquet files, or has no bytes.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = message_schema(INCLUDES, body_format=body_format)
    whole = pa.schema([*_ORIGIN, *schema])
    columns = from_arrow_schema(whole, prefer_timestamp_ntz=False)
    check_column((path for path, kind in files if kind is FileKind.PARQUET), packet_column)

    def decode_ranges(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                part = FileRange(**row)
                is_table = part.kind == FileKind.PARQUET
                read = column_pieces(part, packet_column) if is_table else pieces(part, ports)
                located = ((part.path, piece) for piece in read)
                yield from decode_pieces(located, whole, body_format)

    return _ranges(spark, files).mapInArrow(decode_ranges, columns)


def _ranges(spark: "SparkSession", files: Sequence[tuple[Path, FileKind]]) -> "DataFrame":
    """Parts of files, spread so that each task has about the same to do."""
    small = [(str(path), kind) for path, kind in files if path.stat().st_size <= RANGE_BYTES]
    large = [(str(path), kind) for path, kind in files if path.stat().st_size > RANGE_BYTES]

    def cut(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                ranges = _cut(Path(row["path"]), FileKind(row["kind"]), RANGE_BYTES)
                yield pa.RecordBatch.from_pylist([asdict(part) for part in ranges])

    rows = [(path, str(kind), 0, 0) for path, kind in small]
    if large:
        named = spark.createDataFrame(
            [(path, str(kind)) for path, kind in large], "path string, kind string"
        )
        cuts = named.repartition(len(large)).mapInArrow(cut, _RANGES).collect()
        rows += [tuple(row) for row in cuts]
    parts = len(rows) - len(small) + len(small) // FILES_PER_TASK
    tasks = max(parts, min(parallelism(spark), len(rows)))
    return spark.createDataFrame(rows, _RANGES).repartition(tasks)


def _cut(path: Path, kind: FileKind, range_bytes: int) -> list[FileRange]:
    if kind is FileKind.PARQUET:
        return row_group_ranges(path, range_bytes)
    return cut_points(path, kind, range_bytes)


def decode_pieces(
    located_pieces: Iterable[tuple[str, Piece]], schema: pa.Schema, body_format: str = "binary"
) -> Iterator[pa.RecordBatch]:
    """Rows of `schema` for pieces of files, in blocks."""
    decoder = BlockDecoder(
        pa.schema([field for field in schema if field.name not in _ORIGIN.names]),
        queue=None,
        queue_kind=None,
        body_format=body_format,
    )
    block: list[tuple[str, Piece]] = []
    size = 0
    for located in located_pieces:
        block.append(located)
        size += len(located[1].data)
        if len(block) >= BLOCK_ROWS or size >= BLOCK_BYTES:
            yield from _decode_block(decoder, block, schema)
            block, size = [], 0
    if block:
        yield from _decode_block(decoder, block, schema)


def _decode_block(
    decoder: BlockDecoder, block: list[tuple[str, Piece]], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    messages = [located for located in block if located[1].kind is PacketKind.MESSAGE]
    others = [located for located in block if located[1].kind is not PacketKind.MESSAGE]
    if messages:
        ends = list(accumulate(len(piece.data) for _, piece in messages))
        decoded = decoder.decode(Packets(b"".join(piece.data for _, piece in messages), ends))
        # A body that cannot be read as text does not make a packet malformed.
        fine = decoded.column("id").is_valid().to_pylist()
        kinds = [PacketKind.MESSAGE if located else PacketKind.MALFORMED for located in fine]
        yield pa.record_batch([*_origin(messages, kinds), *decoded.columns], schema=schema)
    if others:
        kinds = [piece.kind for _, piece in others]
        known = {
            "raw_packet": pa.array([piece.data or None for _, piece in others], pa.binary()),
            "decode_error": pa.array([piece.problem for _, piece in others], pa.string()),
        }
        columns = [
            known[field.name] if field.name in known else pa.nulls(len(others), field.type)
            for field in schema
            if field.name not in _ORIGIN.names
        ]
        yield pa.record_batch([*_origin(others, kinds), *columns], schema=schema)


def _origin(block: list[tuple[str, Piece]], kinds: Iterable[PacketKind]) -> list[pa.Array]:
    flows = [piece.flow for _, piece in block]
    return [
        pa.array([str(kind) for kind in kinds], pa.string()),
        pa.array([path for path, _ in block], pa.string()),
        pa.array([piece.offset for _, piece in block], pa.int64()),
        pa.array([_microseconds(piece.time) for _, piece in block], TIMESTAMP),
        pa.array([flow and flow.source_text for flow in flows], pa.string()),
        pa.array([flow and flow.destination_text for flow in flows], pa.string()),
    ]


def _microseconds(nanoseconds: int | None) -> int | None:
    return None if nanoseconds is None else nanoseconds // 1000


def _observed(frame: "DataFrame", observation: Any) -> "DataFrame":
    from pyspark.sql import functions as f

    counts = [
        f.sum(f.when(f.col(KIND) == str(kind), 1).otherwise(0)).alias(str(kind))
        for kind in PacketKind
    ]
    return frame.observe(observation, *counts)


def _problems(rows: "DataFrame") -> list[tuple[Any, ...]]:
    problems = (
        rows.filter("packet_kind in ('malformed', 'gap')")
        .selectExpr("packet_kind", "decode_error", "source_file", "source_offset")
        .limit(SHOWN_PROBLEMS)
        .collect()
    )
    return [tuple(row) for row in problems]


def _problem_table(problems: list[tuple[Any, ...]]) -> Table:
    columns = (
        Column("packet_kind", "Kind"),
        Column("decode_error", "Problem"),
        Column("source_file", "File"),
        Column("source_offset", "Offset, frame or row", Kind.COUNT),
    )
    note = "Their rows are in the table, with the bytes in raw_packet."
    return Table(PROBLEMS, "First problems", columns, tuple(problems), note=note)


def _summary(
    files: int, counts: dict[str, int], problems: list[tuple[Any, ...]] | None, seconds: float
) -> Summary:
    """The outcome for people; problems are listed only where the packets are kept."""
    messages, malformed = counts[PacketKind.MESSAGE], counts[PacketKind.MALFORMED]
    result_text = f"Decoded {count_text(messages, 'message')} of {count_text(files, 'file')}"
    warning = "With --output the packets that are malformed are kept and listed."
    return Summary(
        "decode",
        f"{result_text}; {count_text(malformed, 'malformed packet')}",
        facts=(
            (Column("files", "Files", Kind.COUNT), files),
            *(
                (Column(name, TITLES[kind], Kind.COUNT), counts[kind])
                for name, kind in (
                    ("messages", PacketKind.MESSAGE),
                    ("malformed", PacketKind.MALFORMED),
                    ("internal", PacketKind.INTERNAL),
                    ("gaps", PacketKind.GAP),
                )
            ),
            (Column("seconds", "Time", Kind.SECONDS), seconds),
        ),
        tables=() if problems is None else (_problem_table(problems),),
        warnings=(warning,) if malformed and problems is None else (),
        charts=(
            Bars(
                "Packets",
                tuple(TITLES[kind] for kind in PacketKind),
                tuple(float(counts[kind]) for kind in PacketKind),
                tones=(Tone.GOOD, Tone.PLAIN, Tone.BAD, Tone.UNKNOWN),
            ),
        ),
    )
