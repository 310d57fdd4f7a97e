"""The writers of format `msmq`: tasks stage packets, the driver publishes a batch at once."""

import logging
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.spark.connection import open_connection
from openmsmq.spark.options.records import WriteOptions
from openmsmq.wire.errors import ConfigError

from .partition_write import PartitionWrite, mode_of
from .publishing import BATCH, NONE, PARTITION, Written
from .streaming_batch import streaming_batch
from .write_columns import WriteColumns, write_columns

MAX_KEY: Final = 200
_LOG: Final = logging.getLogger(__name__)


class _Writer:
    """How both writers begin: with options that are right and columns that can be sent."""

    def __init__(self, options: WriteOptions | Mapping[str, str], schema: StructType) -> None:
        self._options = (
            options if isinstance(options, WriteOptions) else WriteOptions.parse(options)
        )
        self._columns = write_columns(schema, self._options)
        _check(self._options)


class BatchWriter(_Writer, DataSourceArrowWriter):
    """Writes a DataFrame; the key of a save makes a repeated one do nothing."""

    def __init__(
        self,
        options: WriteOptions | Mapping[str, str],
        schema: StructType,
        overwrite: bool,  # noqa: FBT001 - as Spark has it
    ) -> None:
        super().__init__(options, schema)
        options = self._options
        self._replaces = overwrite
        if overwrite:
            _check_overwrite(options, self._columns)
        elif options.purge:
            raise ConfigError("option purge: for mode overwrite only")
        key = options.idempotency_key or str(uuid.uuid4())
        if len(key) > MAX_KEY:
            raise ConfigError(f"option idempotencyKey: has more than {MAX_KEY} characters")
        # Tasks and commit get copies of this object, so all of them have this name.
        self._producer = f"spark-save/{key}"

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write one partition."""
        return PartitionWrite(self._options, self._columns, self._producer, 0).run(iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Publish what the tasks have staged."""
        options = self._options
        with open_connection(options.connection) as manager:
            if not self._replaces or options.queue is None:
                _commit(manager, self._producer, 0, messages, options)
                return
            queue = manager.open_queue(options.queue)
            last = queue.ranges.info().last
            # What was there goes when the new rows are there, and only if they are new.
            if _commit(manager, self._producer, 0, messages, options):
                queue.purge(upto=last)

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:  # noqa: ARG002 - Spark's
        """Forget what the tasks have staged."""
        if mode_of(self._options) == BATCH:
            with open_connection(self._options.connection) as manager:
                manager.producer(self._producer).abort(0)


class StreamWriter(_Writer, DataSourceStreamArrowWriter):
    """Writes the batches of a streaming query, each of them once."""

    def __init__(
        self,
        options: WriteOptions | Mapping[str, str],
        schema: StructType,
        overwrite: bool,  # noqa: FBT001 - as Spark has it
    ) -> None:
        super().__init__(options, schema)
        if overwrite:
            raise ConfigError("outputMode complete: a queue cannot be replaced; allowed is append")
        if self._options.purge:
            raise ConfigError("option purge: for saves in mode overwrite only")
        if self._options.idempotency_key is not None:
            raise ConfigError("option idempotencyKey: for saves only; a stream has its query id")

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Write one partition of a batch."""
        query_id, batch_id = streaming_batch()
        producer = f"spark-query/{query_id}"
        return PartitionWrite(self._options, self._columns, producer, batch_id).run(iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's
        """Publish the batch, unless it was published before."""
        producer = _producer(messages, batchId)
        if producer is not None:
            with open_connection(self._options.connection) as manager:
                _commit(manager, producer, batchId, messages, self._options)

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's
        """Forget what is staged; harmless for a batch that was published."""
        producer = _producer(messages, batchId)
        if producer is not None and mode_of(self._options) == BATCH:
            with open_connection(self._options.connection) as manager:
                manager.producer(producer).abort(batchId)


def _check(options: WriteOptions) -> None:
    """Refuse options that do not go together.

    Raises:
        ConfigError: names the option.
    """
    if options.dead_letter_queue is not None and options.on_error != "deadletter":
        raise ConfigError("option deadLetterQueue: for onError=deadletter only")
    if options.transactional is True and mode_of(options) == NONE:
        raise ConfigError("option transactional: true is not for transaction=none")
    if options.transactional is False and mode_of(options) == PARTITION:
        raise ConfigError("option transactional: false is not for transaction=partition")
    if "transactional" in options.columns and mode_of(options) != BATCH:
        raise ConfigError("option transactionalColumn: for transaction=batch only")
    if options.idempotency_key is not None and mode_of(options) != BATCH:
        raise ConfigError("option idempotencyKey: for transaction=batch only")


def _check_overwrite(options: WriteOptions, columns: WriteColumns) -> None:
    if not options.purge:
        raise ConfigError(
            "mode overwrite: deletes every message of the queue; set the option purge=true to "
            "allow it, or use mode append"
        )
    if options.queue is None or "queue" in columns.names:
        raise ConfigError("mode overwrite: needs the option queue, and all rows go there")
    if mode_of(options) != BATCH:
        raise ConfigError("mode overwrite: needs transaction=batch")


def _producer(messages: Sequence[WriterCommitMessage | None], batch: int) -> str | None:
    """In whose name the tasks have staged a batch; None when no task has said so."""
    written = [message for message in messages if isinstance(message, Written)]
    for message in written:
        if message.batch != batch:
            raise RuntimeError(f"a task of batch {batch} has written batch {message.batch}")
    return written[0].producer if written else None


def _commit(
    manager: QueueManager,
    producer: str,
    batch: int,
    messages: Sequence[WriterCommitMessage | None],
    options: WriteOptions,
) -> bool:
    """Publish a batch in the order of partitions; say whether it was new."""
    written = [message for message in messages if isinstance(message, Written)]
    is_new = True
    if mode_of(options) == BATCH:
        stages = sorted(message.stage for message in written if message.stage is not None)
        is_new = manager.producer(producer).commit(batch, stages)
        if not is_new:
            _LOG.info("batch %d of %s was published before and is dropped", batch, producer)
    lost = sum(message.skipped for message in written)
    dead = sum(message.dead_lettered for message in written)
    if is_new and (lost or dead):
        _LOG.warning("batch %d: %d rows skipped, %d in the dead-letter queue", batch, lost, dead)
    return is_new
