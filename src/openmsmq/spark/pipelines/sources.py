r"""Sources of pipelines: queues, archives and folders of Parquet files.

A source is a text: the path of a folder, or the name of a queue (`.\private$\orders`,
`.\private$\orders;journal`, `;deadletter`), after `ENDPOINT::` for a queue of another queue
manager.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from openmsmq.spark.pipelines.archive.store import DESCRIPTION, Archive, read_archive
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.packet_files import PacketKind
from openmsmq.spark.pipelines.support.spark_paths import literal_path

from .decode import KIND, MESSAGES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The address of a format name may contain `::`, and so may the name of a queue after its `\`.
_FORMAT_NAME: Final = re.compile(
    r"(outgoing:)?(DIRECT|PUBLIC|PRIVATE|MACHINE|CONNECTOR|DL|MULTICAST)=", re.IGNORECASE
)
# An address of IPv6 stands in brackets.
_ELSEWHERE: Final = re.compile(r"(\[[^\]\\]*\][^\\]*?|[^\\\[][^\\]*?)::(.+)", re.DOTALL)
_SUFFIXES: Final = {
    ";journal": "journal",
    ";deadletter": "deadletter",
    ";deadxact": "xact_deadletter",
}
_MACHINE: Final = (".", r".\system$")
_LOCAL: Final = "DIRECT=OS:.\\"
OUTGOING: Final = "outgoing:"
# What names of queues have and names of folders mostly have not.
_LIKE_A_QUEUE: Final = re.compile(r"[\\=;]|\Aoutgoing:", re.IGNORECASE)
# What every pipeline asks of a message.
_NEEDED: Final = ("id", "class")


class QueueSource(NamedTuple):
    """A queue to read, in the words of the data source's options."""

    queue: str
    kind: str
    endpoint: str | None

    def options(self) -> dict[str, str]:
        """The options of the data source."""
        options = {"queue": self.queue, "kind": self.kind, "endpoint": self.endpoint}
        return {name: value for name, value in options.items() if value}


def parse_queue(text: str, endpoint: str | None = None) -> QueueSource:
    """The queue that a text names; `endpoint` is the usual queue manager."""
    elsewhere, text = _split(text)
    endpoint = elsewhere or endpoint
    if text.lower().startswith(OUTGOING):
        return QueueSource(text[len(OUTGOING) :], "outgoing", endpoint)
    for suffix, kind in _SUFFIXES.items():
        if text.lower().endswith(suffix):
            name = text[: -len(suffix)]
            # Those of the machine have no name of their own.
            return QueueSource("" if name.lower() in _MACHINE else name, kind, endpoint)
    return QueueSource(text, "queue", endpoint)


def source_text(key: str) -> str:
    """The text that names a queue of this machine as people do, for the name that manifests have.

    `DIRECT=OS:.\\private$\\orders;JOURNAL` becomes `.\\private$\\orders;journal`.
    """
    if not key.startswith(_LOCAL):
        return key
    name, semicolon, suffix = key.removeprefix(_LOCAL).partition(";")
    if semicolon + suffix.lower() in _SUFFIXES:
        suffix = suffix.lower()
    path = "" if f".\\{name}" in _MACHINE else f".\\{name}"
    return f"{path}{semicolon}{suffix}"


def _split(text: str) -> tuple[str | None, str]:
    """The texts before and after `::`."""
    match = None if _FORMAT_NAME.match(text) else _ELSEWHERE.fullmatch(text)
    return (match[1], match[2]) if match else (None, text)


def find_source(text: str, endpoint: str | None = None) -> Path | QueueSource:
    """The folder or the queue that a text means; folders have been looked into.

    Raises:
        PipelineError: there is no such folder and it is no name of a queue, or the folder holds no
            messages.
    """
    folder = Path(text)
    if folder.is_dir():
        _check_folder(folder)
        return folder
    elsewhere, name = _split(text)
    is_path = "/" in name and elsewhere is None and "=" not in name
    if is_path or not _LIKE_A_QUEUE.search(name):
        other = "" if is_path else ", and it is no name of a queue"
        raise PipelineError(
            f"there is no folder {text}{other}",
            cause="The path is misspelt, or nothing was archived there yet.",
            remedy="Name the folder of an archive, a folder of Parquet files, or a queue such as "
            r"'.\private$\orders' or ';deadletter'.",
        )
    return parse_queue(text, endpoint)


def read_source(
    spark: "SparkSession",
    text: str,
    *,
    endpoint: str | None = None,
    options: Mapping[str, str] | None = None,
) -> "DataFrame":
    """The messages of a source as they are now.

    Args:
        spark: the session.
        text: the source.
        endpoint: the usual queue manager.
        options: more options of the data source for queues, such as `auth.tokenFile`.

    Raises:
        PipelineError: a folder is not there, or holds no messages.
    """
    source = find_source(text, endpoint)
    if isinstance(source, Path):
        return _read_folder(spark, source)
    return spark.read.format("msmq").options(**{**(options or {}), **source.options()}).load()


def read_sources(
    spark: "SparkSession",
    texts: Iterable[str],
    *,
    endpoint: str | None = None,
    options: Mapping[str, str] | None = None,
) -> "list[DataFrame]":
    """The messages of several sources."""
    return [read_source(spark, text, endpoint=endpoint, options=options) for text in texts]


def stream_sources(
    spark: "SparkSession",
    texts: Iterable[str],
    *,
    endpoint: str | None = None,
    options: Mapping[str, str] | None = None,
) -> "list[DataFrame]":
    """The messages of several queues as streams, from what is there now on.

    Raises:
        PipelineError: one is a folder, which does not grow.
    """
    return [_stream_source(spark, text, endpoint, options or {}) for text in texts]


def find_stream(text: str, endpoint: str | None = None) -> QueueSource:
    """The queue that a text means, to be followed.

    Raises:
        PipelineError: it is a folder, which does not grow, or no name of a queue.
    """
    source = None if Path(text).is_dir() else find_source(text, endpoint)
    if isinstance(source, QueueSource):
        return source
    raise PipelineError(
        f"{text} is a folder, and only queues can be followed",
        cause="An archive does not tell when more is added to it.",
        remedy="Name the queue or journal itself, or run it without --follow.",
    )


def _stream_source(
    spark: "SparkSession", text: str, endpoint: str | None, options: Mapping[str, str]
) -> "DataFrame":
    values = {**options, **find_stream(text, endpoint).options()}
    return spark.readStream.format("msmq").options(**values).load()


def _check_folder(folder: Path) -> None:
    """See that a folder is an archive, or has files of messages.

    Raises:
        PipelineError: it is neither.
    """
    if (folder / DESCRIPTION).exists():
        Archive.open(folder)
        return
    first = next(iter(sorted(_table_folder(folder).rglob("*.parquet"))), None)
    if first is None:
        raise PipelineError(
            f"the folder {folder} holds no messages",
            cause="It is neither an archive nor a folder of Parquet files.",
            remedy="Make one with `openmsmq pipeline archive` or `openmsmq pipeline decode`.",
        )
    try:
        names = pq.read_schema(first).names
    except (OSError, pa.ArrowException) as exc:
        raise PipelineError(
            f"{first} cannot be read as Parquet: {exc}",
            cause="The file is damaged, was not written to its end, or may not be read.",
            remedy="Write the table again, or leave this file out.",
        ) from exc
    lacking = [name for name in _NEEDED if name not in names]
    if lacking:
        raise PipelineError(
            f"the files in {folder} have no column {lacking[0]}, so their rows are no messages",
            cause=f"The columns of {first.name} are {', '.join(names)}.",
            remedy="Name the folder of an archive, or of what `openmsmq pipeline decode` wrote.",
        )


def _table_folder(folder: Path) -> Path:
    """Where the files are: beside the table that `decode` has written lies its report."""
    table = folder / MESSAGES
    return table if table.is_dir() else folder


def _read_folder(spark: "SparkSession", folder: Path) -> "DataFrame":
    if (folder / DESCRIPTION).exists():
        return read_archive(spark, folder)
    reader = spark.read.option("pathGlobFilter", "*.parquet")
    rows = reader.parquet(literal_path(_table_folder(folder)))
    # Of what `decode` has written, not all rows are messages.
    is_decoded = KIND in rows.columns
    return rows.filter(f"{KIND} = '{PacketKind.MESSAGE}'") if is_decoded else rows


def united(frames: "Sequence[DataFrame]") -> "DataFrame":
    """All rows of several sources; columns that only some have are null in the others."""
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionByName(frame, allowMissingColumns=True)
    return whole
