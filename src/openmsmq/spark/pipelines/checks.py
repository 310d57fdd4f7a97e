"""Arguments of pipelines, checked before the slow start of Spark."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.connection import open_connection
from openmsmq.spark.options.reading import NONE
from openmsmq.spark.options.records import ConnectionOptions, ReadOptions
from openmsmq.spark.pipelines.archive.store import DESCRIPTION, Archive, check_place
from openmsmq.spark.pipelines.archive.tables import PARQUET, archive_table
from openmsmq.spark.pipelines.replay.key import full_endpoint
from openmsmq.spark.pipelines.replay.replaying import ask_manager
from openmsmq.spark.pipelines.replay.state import ReplayState
from openmsmq.spark.pipelines.reporting.summary import Inputs
from openmsmq.spark.pipelines.support.durable import only_writer
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.packet_files import FileKind
from openmsmq.spark.pipelines.support.parquet_packets import check_column
from openmsmq.spark.readers.queue_selection import not_found, select_queues
from openmsmq.spark.session import place
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .decode import find_files
from .sources import QueueSource, find_source, find_stream

_NUMBER: Final = r"(?:\d+|\*)"
_MASTER: Final = re.compile(
    rf"local(?:\[{_NUMBER}(?:\s*,\s*\d+)?\])?|local-cluster\[[^\]]+\]|yarn|spark://\S+:\d+\S*|"
    r"k8s://\S+|sc://\S+"
)


@dataclass(frozen=True, slots=True)
class ArgumentChecks:
    """Checks for one run of a pipeline.

    Args:
        endpoint: the usual queue manager.
        asks: whether queue managers are asked for their queues: a Spark elsewhere may reach some
            that this machine does not.
        managers: where those are that were asked, and their names.
    """

    endpoint: str | None
    asks: bool = True
    managers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def begin(cls, master: str | None, endpoint: str | None) -> "ArgumentChecks":
        """Check where Spark is to run.

        Raises:
            PipelineError: there is no such master.
        """
        where = place(master, os.environ)
        for name in where.values():
            check_master(name)
        return cls(endpoint, asks=where.get("spark.remote", "local").startswith("local"))

    def sources(self, texts: Iterable[str], *, follow: bool = False) -> None:
        """See that folders hold messages, and that queues are there and may be read.

        Raises:
            MsmqError: one cannot be read; the text names it.
        """
        find = find_stream if follow else find_source
        sources = [find(text, self.endpoint) for text in texts]
        self.queues(source.options() for source in sources if isinstance(source, QueueSource))

    def queues(self, sources: Iterable[Mapping[str, str]], *, later: bool = False) -> None:
        """See that the queues of these options of the data source are there and may be read.

        Args:
            sources: the options of each query.
            later: whether a pattern may mean queues that are not there now.

        Raises:
            MsmqError: one cannot be read; the text names it.
        """
        parsed = [ReadOptions.parse(options) for options in sources]
        if not self.asks:
            return
        managers: dict[ConnectionOptions, QueueManager] = {}
        with ExitStack() as opened:
            for options in parsed:
                where = options.connection
                if where not in managers:
                    # Spark's tasks wait for a queue manager that starts again; people do not.
                    manager = open_connection(replace(where, timeout=0.0))
                    managers[where] = opened.enter_context(manager)
                    self.managers[full_endpoint(where.endpoint)] = manager.identity.name
                check_queues(managers[where], options, later=later)

    def inputs(self, sources: Iterable[str], command: str) -> Inputs:
        """What a report says about where its numbers come from."""
        managers = [f"{name} ({where})" for where, name in self.managers.items()]
        streams = {
            "Queue manager": ", ".join(managers),
            "Read": ", ".join(sources),
            "Command": f"`{command}`",
        }
        return tuple((name, text) for name, text in streams.items() if text)

    def archive(self, directory: Path, table: str | None) -> bool:
        """See that an archive can be made or continued there; return whether it is a new one.

        Raises:
            PipelineError: it cannot.
        """
        self.output(directory)
        check_place(directory)
        if not (directory / DESCRIPTION).exists():
            archive_table(table or PARQUET, directory)
            return True
        Archive.open_or_create(directory, table)
        with only_writer(directory):
            return False

    def existing_archive(self, directory: Path) -> None:
        """See that there is an archive, and that it can be read.

        Raises:
            PipelineError: there is none, or it cannot.
        """
        Archive.open(directory.absolute())

    def packet_files(self, paths: Sequence[str], column: str) -> None:
        """See that there are files, and that those of Parquet have the column.

        Raises:
            PipelineError: there are none, or they have not.
        """
        files = find_files(paths)
        check_column((path for path, kind in files if kind is FileKind.PARQUET), column)

    def destination(self, to: str | None, state: Path | None, *, send: bool) -> None:
        """See that the queue manager takes messages, and took those of an earlier run.

        Raises:
            MsmqError: it does not answer, does not take them, or another one took those.
        """
        if to is None and not send:
            return
        defaults = {} if self.endpoint is None else {"endpoint": self.endpoint}
        options = replace(ConnectionOptions.from_values(defaults), timeout=0.0)
        manager = ask_manager(options, to, send=send)
        if send and state is not None and manager is not None:
            ReplayState(state.absolute()).check(manager)

    def output(self, *folders: Path | None) -> None:
        """See that folders are there or can be made, and can be written.

        Raises:
            PipelineError: one cannot.
        """
        for folder in folders:
            if folder is not None:
                _check_writable(folder.absolute())


def check_master(master: str) -> None:
    """See that Spark knows such a place.

    Raises:
        PipelineError: it does not.
    """
    if not _MASTER.fullmatch(master):
        raise PipelineError(
            f"{master!r} is no Spark master",
            cause="It is misspelt, or was meant for another option.",
            remedy="Masters are like local[2], spark://host:7077, yarn, k8s://... and sc://host.",
            code=Hresult.MQ_ERROR_INVALID_PARAMETER,
        )


def check_queues(manager: QueueManager, options: ReadOptions, *, later: bool) -> None:
    """See that the queues of a query are there and may be opened as it will open them.

    Raises:
        QueueError: one may not, or is not there.
    """
    queues = select_queues(manager, options)
    if not queues and not later:
        raise PipelineError(
            f"no queue is called {options.queue_pattern}",
            cause=f"{manager.identity.name} has no queue whose name is like the pattern.",
            remedy="Compare it with `openmsmq queue list`; * stands for any text.",
            code=Hresult.MQ_ERROR_QUEUE_NOT_FOUND,
        )
    for queue in queues:
        access = queue.peek_access if options.consume == NONE else "receive"
        try:
            manager.open_queue(queue.opened_as, access).close()
        except QueueError as exc:
            # Whoever has it to himself now may have left when the query begins, which waits.
            if exc.code != Hresult.MQ_ERROR_SHARING_VIOLATION:
                raise not_found(manager, queue, exc) from exc


def _check_writable(folder: Path) -> None:
    there = next(parent for parent in (folder, *folder.parents) if os.path.lexists(parent))
    if not there.is_dir():
        reason = f"{there} is no folder"
    elif not os.access(there, os.W_OK | os.X_OK):
        reason = f"you may not write to {there}"
    else:
        return
    raise PipelineError(
        f"{folder} cannot be written: {reason}",
        cause="The path is misspelt, or belongs to somebody else.",
        remedy="Name a folder that you may write to.",
    )
