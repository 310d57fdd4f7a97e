"""The tables of an archive: Parquet folders, Delta or Iceberg.

Files are written first; a table adds them, all or none, once per step.
"""

import json
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import pyarrow as pa

from openmsmq.spark.pipelines.support.errors import PipelineError

from .data_files import DATE, PARTITION_COLUMNS, QUEUE, Layout, widened
from .manifest import Step

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table as PyIcebergTable

PARQUET: Final = "parquet"
DELTA: Final = "delta"
ICEBERG: Final = "iceberg"
FORMATS: Final = (PARQUET, DELTA, ICEBERG)
DATA: Final = "data"
CATALOG: Final = "catalog.db"
NAMESPACE: Final = "openmsmq"
TABLE_NAME: Final = f"{NAMESPACE}.messages"
_NO_LOCATION: Final = frozenset("?#")
_ARCHIVE_PROPERTY: Final = "openmsmq.archive"
_STEP_PROPERTY: Final = "openmsmq.step"


class ArchiveTable(Protocol):
    """Takes in the files of a step, once."""

    @property
    def layout(self) -> Layout:
        """How the files of this table look."""

    @property
    def keeps_removed_files(self) -> bool:
        """Whether files that were replaced stay until somebody cleans up the history."""

    def has(self, step: Step) -> bool:
        """Whether the files of a step that has begun were taken in."""

    def commit(self, step: Step, schema: pa.Schema) -> None:
        """Take in the files of a step and let go of those that it has replaced."""


def archive_table(kind: str, archive: Path) -> ArchiveTable:
    """The table of an archive.

    Raises:
        PipelineError: the format is not known, or its package is missing.
    """
    if kind not in FORMATS:
        raise PipelineError(
            f"there is no table format {kind!r}",
            cause="The formats are parquet, delta and iceberg.",
            remedy="Choose one of them.",
        )
    package = {DELTA: "deltalake", ICEBERG: "pyiceberg"}.get(kind)
    if package is not None and find_spec(package) is None:
        raise PipelineError(
            f"the package {package} is not installed",
            cause=f"An archive in the format {kind} needs it.",
            remedy="Install it: pip install 'openmsmq[tables]'.",
        )
    if kind == DELTA:
        return DeltaArchive(archive)
    if kind == ICEBERG and _NO_LOCATION & set(str(archive.absolute())):
        raise PipelineError(
            f"{archive} cannot hold an archive in the format {kind}",
            cause="Iceberg takes '?' and '#' in a path for the end of it.",
            remedy="Name a folder without them, or choose another format.",
        )
    return IcebergArchive(archive) if kind == ICEBERG else ParquetArchive()


class ParquetArchive:
    """Plain Parquet in folders by day and queue; the manifest says which files count."""

    layout = Layout(hive=True)
    keeps_removed_files = False

    def has(self, step: Step) -> bool:
        """The manifest alone decides, and for it the step has not ended."""
        del step
        return False

    def commit(self, step: Step, schema: pa.Schema) -> None:
        """There is nothing beside the manifest."""


class DeltaArchive:
    """A Delta table; each step is one of its transactions, remembered by number."""

    layout = Layout(hive=False)
    keeps_removed_files = True

    def __init__(self, archive: Path) -> None:
        self._path = archive / DATA

    def has(self, step: Step) -> bool:
        from deltalake import DeltaTable

        if not DeltaTable.is_deltatable(str(self._path)):
            return False
        version = DeltaTable(self._path).transaction_version(step.archive)
        return version is not None and version >= step.number

    def commit(self, step: Step, schema: pa.Schema) -> None:
        from deltalake import CommitProperties, DeltaTable, Transaction

        table = (
            DeltaTable(self._path)
            if DeltaTable.is_deltatable(str(self._path))
            else DeltaTable.create(self._path, schema, partition_by=list(PARTITION_COLUMNS))
        )
        table.create_write_transaction(
            [*self._removals(step), *self._additions(step)],
            mode="append",
            schema=table.schema(),
            partition_by=list(PARTITION_COLUMNS),
            commit_properties=CommitProperties(
                app_transactions=[Transaction(step.archive, step.number)],
                # Delta names the operation of any append WRITE.
                custom_metadata={"openmsmq": step.kind},
            ),
        )

    def _additions(self, step: Step) -> list[Any]:
        from deltalake.transaction import AddAction

        now = int(time.time() * 1000)
        return [
            AddAction(
                _relative(file.path),
                file.bytes,
                {DATE: file.date, QUEUE: file.queue},
                now,
                # A compaction brings no new rows, which streaming readers need to know.
                not step.removed,
                json.dumps({"numRecords": file.rows}),
            )
            for file in step.files
        ]

    def _removals(self, step: Step) -> list[Any]:
        from deltalake.transaction import RemoveAction

        now = int(time.time() * 1000)
        return [
            RemoveAction(
                _relative(file.path),
                data_change=False,
                deletion_timestamp=now,
                size=file.bytes,
                partition_values={DATE: file.date, QUEUE: file.queue},
            )
            for file in step.removed
        ]


class IcebergArchive:
    """An Iceberg table in a catalog of its own; each step is a snapshot with its number."""

    layout = Layout(hive=False, small_integers=False)
    keeps_removed_files = True

    def __init__(self, archive: Path) -> None:
        self._archive = archive

    def has(self, step: Step) -> bool:
        with _catalog(self._archive) as catalog:
            if not catalog.table_exists(TABLE_NAME):
                return False
            snapshots = catalog.load_table(TABLE_NAME).snapshots()
        return any(
            snapshot.summary is not None
            and snapshot.summary.get(_ARCHIVE_PROPERTY) == step.archive
            and snapshot.summary.get(_STEP_PROPERTY) == str(step.number)
            for snapshot in snapshots
        )

    def commit(self, step: Step, schema: pa.Schema) -> None:
        from pyiceberg.io.pyarrow import parquet_file_to_data_file

        properties = {_ARCHIVE_PROPERTY: step.archive, _STEP_PROPERTY: str(step.number)}
        paths = [_location(self._archive / file.path) for file in step.files]
        with _catalog(self._archive) as catalog:
            table = self._table(catalog, schema)
            if not step.removed:
                table.add_files(paths, properties, check_duplicate_files=False)
                return
            removed_paths = {_location(self._archive / file.path) for file in step.removed}
            with (
                table.transaction() as transaction,
                transaction.update_snapshot(properties).overwrite() as overwrite,
            ):
                for task in table.scan().plan_files():
                    if task.file.file_path in removed_paths:
                        overwrite.delete_data_file(task.file)
                for path in paths:
                    overwrite.append_data_file(
                        parquet_file_to_data_file(table.io, table.metadata, path)
                    )

    def _table(self, catalog: "Catalog", schema: pa.Schema) -> "PyIcebergTable":
        if catalog.table_exists(TABLE_NAME):
            return catalog.load_table(TABLE_NAME)
        catalog.create_namespace_if_not_exists(NAMESPACE)
        table = catalog.create_table(
            TABLE_NAME, widened(schema), location=_location(self._archive / DATA)
        )
        with table.update_spec() as spec:
            for name in PARTITION_COLUMNS:
                spec.add_identity(name)
        return table


def _catalog(archive: Path) -> "Catalog":
    """The catalog of an archive; closed at the end of a `with` statement."""
    from pyiceberg.catalog.sql import SqlCatalog

    uri = f"sqlite:///{archive.absolute() / CATALOG}"
    return SqlCatalog(NAMESPACE, uri=uri, warehouse=_location(archive))


def _location(path: Path) -> str:
    """The place of a file as Iceberg has it, which undoes no percent signs."""
    return f"file://{path.absolute()}"


def _relative(path: str) -> str:
    """The path of a file as the log of a Delta table has it."""
    return path.removeprefix(f"{DATA}/")
