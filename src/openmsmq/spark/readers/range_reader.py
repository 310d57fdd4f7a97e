"""A task: stream the blocks of its share, decode them, and check that none is missing."""

import logging
import math
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Final

import numpy as np
import pyarrow as pa

from openmsmq.client.errors import ConnectionLost
from openmsmq.protocol.local.messages import Block
from openmsmq.spark.columns import COLUMNS
from openmsmq.spark.connection import RETRY_SECONDS, open_connection
from openmsmq.spark.decoding.block_decoder import BlockDecoder
from openmsmq.spark.errors import DataLoss
from openmsmq.spark.options.records import ReadOptions
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.lookup_id import SEQUENCE_MASK, digest_text

from .matching import conditions, matches
from .offsets import digest_of
from .partitions import RangePartition

BATCH_ROWS: Final = 2000
GOING_ON: Final = "With the option failOnDataLoss=false the query continues"
_GONE: Final = (Hresult.MQ_ERROR_QUEUE_NOT_FOUND, Hresult.MQ_ERROR_QUEUE_NOT_AVAILABLE)
_LOG: Final = logging.getLogger(__name__)


def read_partition(
    options: ReadOptions, schema: pa.Schema, partition: RangePartition
) -> Iterator[pa.RecordBatch]:
    """The rows of a share as record batches of about 2,000 rows.

    Raises:
        DataLoss: not all planned messages were there.
    """
    queue = partition.planned.queue
    decoder = BlockDecoder(
        _decoded(options, schema),
        queue=queue.name,
        queue_kind=queue.kind,
        body_format=options.body_format,
        machine=queue.machine,
    )
    batches: Iterator[pa.RecordBatch] = map(decoder.decode, checked_blocks(options, partition))
    if options.order == "queue":
        batches = _in_queue_order(batches)
    for batch in batches:
        matching = batch.filter(matches(batch, options.where)) if options.where else batch
        if options.mode == "failfast":
            _refuse_undecoded(matching, queue.name)
        if matching.num_rows:
            yield pa.record_batch([matching.column(name) for name in schema.names], schema=schema)


def checked_blocks(options: ReadOptions, partition: RangePartition) -> Iterator[Block]:
    """The blocks of a share; at the end it is known whether all planned messages were there.

    Raises:
        DataLoss: they were not, and `failOnDataLoss` is true.
    """
    planned = partition.planned
    count = digest = 0
    try:
        for block in _blocks(options, partition):
            ids = np.asarray(block.lookup_ids, np.uint64)
            count += len(ids)
            digest += digest_of(ids)
            yield block
    except QueueError as exc:
        if exc.code not in _GONE:
            raise
        report_loss(options, f"{planned.queue.name} is gone: {exc}")
    if count != planned.count or digest_text(digest) != partition.digest:
        report_loss(
            options,
            f"{planned.queue.name}: {planned.count} messages were planned after "
            f"{planned.after} up to {planned.upto}, {count} were there; the others were received, "
            "purged, moved or have expired",
        )


def _blocks(options: ReadOptions, partition: RangePartition) -> Iterator[Block]:
    """Stream the share; go on where it was when the queue manager is started again meanwhile."""
    planned = partition.planned
    after = planned.after
    end = math.inf
    while True:
        reached = after
        # Lookup ids never come again, so they say enough about the queue.
        lookup_ids = [
            lookup_id for lookup_id in partition.lookup_ids if lookup_id & SEQUENCE_MASK > after
        ]
        # This waits for a queue manager that is not there yet.
        manager = open_connection(options.connection)
        try:
            with (
                manager,
                manager.open_queue(planned.peeked_as, planned.queue.peek_access) as queue,
            ):
                if not lookup_ids and planned.incarnation not in (
                    None,
                    queue.ranges.info().incarnation,
                ):
                    report_loss(options, f"{planned.queue.name} was deleted and created again")
                    return
                with closing(
                    queue.ranges.peek(
                        after, planned.upto, block_rows=BATCH_ROWS, lookup_ids=lookup_ids
                    )
                ) as blocks:
                    for block in blocks:
                        yield block
                        reached = block.lookup_ids[-1] & SEQUENCE_MASK
            return
        except ConnectionLost:
            now = time.monotonic()
            if now > end and reached == after:
                raise
            if end == math.inf or reached != after:
                end = now + options.connection.timeout
            else:
                # It answers and disconnects at once.
                time.sleep(RETRY_SECONDS)
            after = reached


def report_loss(options: ReadOptions, text: str) -> None:
    """Stop the query because of a loss, or warn, as the user wants.

    Raises:
        DataLoss: `failOnDataLoss` is true.
    """
    if options.fail_on_data_loss:
        raise DataLoss(f"{text}. {GOING_ON}")
    _LOG.warning("%s (failOnDataLoss=false: going on)", text)


def _decoded(options: ReadOptions, schema: pa.Schema) -> pa.Schema:
    """The columns that are asked for and those that are needed to choose rows."""
    needed = list(schema.names)
    if options.order == "queue":
        needed.append("lookup_id")
    if options.mode == "failfast":
        needed.append("decode_error")
    if options.where:
        needed += conditions(options.where)
    return pa.schema([(name, COLUMNS[name].type) for name in dict.fromkeys(needed)])


def _in_queue_order(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All rows of a share by lookup id, which needs them all in memory."""
    all_batches = list(batches)
    if not all_batches:
        return
    table = pa.Table.from_batches(all_batches).sort_by("lookup_id")
    yield from table.combine_chunks().to_batches(max_chunksize=BATCH_ROWS)


def _refuse_undecoded(batch: pa.RecordBatch, queue: str) -> None:
    reasons = batch.column("decode_error").drop_null()
    if len(reasons):
        raise UndecodedBody(
            f"{queue}: {len(reasons)} messages cannot be decoded, the first because of: "
            f"{reasons[0]}. With the option mode=permissive the query continues"
        )


class UndecodedBody(MsmqError):
    """A message cannot be decoded, and the query wants to stop then (mode=failfast)."""
