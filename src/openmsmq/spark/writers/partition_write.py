"""One task of a write: the rows of a partition become packets in queues."""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
from pyspark import TaskContext

from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.connection import open_connection
from openmsmq.spark.options.records import WriteOptions
from openmsmq.wire.errors import MsmqError

from .dead_letters import dead_letter
from .publishing import (
    BATCH,
    PARTITION,
    AtOnce,
    OneTransaction,
    Publishing,
    Staging,
    Targets,
    Written,
)
from .row_encoder import RowEncoder
from .write_columns import WriteColumns

# Rows that are encoded at a time, and about how many bytes of them.
SLICE_ROWS: Final = 2000
SLICE_BYTES: Final = 4 * 1024 * 1024


class RowError(MsmqError):
    """A row that cannot be sent; the text names row and column."""


class PartitionWrite:
    """Writes the rows of one partition."""

    def __init__(
        self, options: WriteOptions, columns: WriteColumns, producer: str, batch: int
    ) -> None:
        context = TaskContext.get()
        self._options = options
        self._columns = columns
        self._producer = producer
        self._batch = batch
        self._partition = context.partitionId() if context is not None else 0
        self._row = 0
        self._messages = 0
        self._dead_lettered = 0
        self._skipped = 0

    def run(self, batches: Iterator[pa.RecordBatch]) -> Written:
        """Write all rows.

        Raises:
            RowError: a row cannot be sent, and onError is fail.
        """
        options = self._options
        with open_connection(options.connection) as manager:
            targets = Targets(manager, mode_of(options), transactional=options.transactional)
            encoder = RowEncoder(
                self._columns, targets, queue=options.queue, body_encoding=options.body_encoding
            )
            # A queue that is not there is an error also when no row comes.
            for name in (options.queue, options.dead_letter_queue):
                if name is not None:
                    targets(name)
            publishing = self._publishing(manager)
            try:
                for batch in batches:
                    for part in slices(batch):
                        self._write(part, encoder, targets, publishing)
                stage = publishing.finish()
            except BaseException:
                publishing.give_up()
                raise
        counts = (self._messages, self._dead_lettered, self._skipped)
        return Written(self._producer, self._batch, stage, *counts)

    def _publishing(self, manager: QueueManager) -> Publishing:
        mode = mode_of(self._options)
        if mode == BATCH:
            return Staging(manager, self._producer, self._batch, self._partition)
        return OneTransaction(manager) if mode == PARTITION else AtOnce()

    def _write(
        self, batch: pa.RecordBatch, encoder: RowEncoder, targets: Targets, publishing: Publishing
    ) -> None:
        packets, faults = encoder.encode(batch)
        options = self._options
        if faults and options.on_error == "fail":
            fault = faults[0]
            raise RowError(
                f"row {self._row + fault.row} of partition {self._partition}, "
                f"column {fault.column}: {fault.reason}"
            )
        for place, group in packets.items():
            publishing.send(targets(*place), group)
            self._messages += len(group)
        if faults and options.dead_letter_queue is not None:
            target = targets(options.dead_letter_queue)
            letters = [
                dead_letter(batch, fault, f"row {self._row + fault.row} of {self._place}")
                for fault in faults
            ]
            publishing.send(target, [target.builder.build(letter) for letter in letters])
            self._dead_lettered += len(letters)
        else:
            self._skipped += len(faults)
        self._row += batch.num_rows

    @property
    def _place(self) -> str:
        return f"partition {self._partition} of batch {self._batch} of {self._producer}"


def mode_of(options: WriteOptions) -> str:
    """How rows become visible: with their batch, with their partition, or at once."""
    return options.transaction or BATCH


def slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Parts of a batch that are not too large."""
    count = batch.num_rows
    rows = SLICE_ROWS
    if batch.nbytes > SLICE_BYTES:
        rows = max(1, min(rows, count * SLICE_BYTES // batch.nbytes))
    for start in range(0, count, rows):
        yield batch.slice(start, rows)
