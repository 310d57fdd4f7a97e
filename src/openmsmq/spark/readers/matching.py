"""Messages that match the options `where.*`, for tasks that read and the driver that removes.

The options are not pushed-down filters: those return wrong rows when a DataFrame is used twice.
"""

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from openmsmq.protocol.local.messages import Block
from openmsmq.spark.columns import COLUMNS
from openmsmq.spark.decoding.block_decoder import BlockDecoder
from openmsmq.spark.options.records import Where
from openmsmq.wire.lookup_id import SEQUENCE_MASK


def conditions(where: Where) -> dict[str, str | int]:
    """The columns that are asked about, and what they must be."""
    by_column = {
        "label": where.label,
        "class": where.message_class,
        "correlation_id": where.correlation_id,
        "priority": where.priority_min,
    }
    return {column: wanted for column, wanted in by_column.items() if wanted is not None}


def matches(batch: pa.RecordBatch, where: Where) -> pa.BooleanArray:
    """For each row, whether it is wanted."""
    mask = pa.repeat(pa.scalar(value=True), batch.num_rows)
    for column, wanted in conditions(where).items():
        compare = pc.greater_equal if column == "priority" else pc.equal
        value = pa.scalar(wanted, COLUMNS[column].type)
        mask = pc.and_(mask, compare(batch.column(column), value))
    return mask.fill_null(fill_value=False)


def matching_ranges(blocks: Iterable[Block], where: Where, after: int) -> Iterator[tuple[int, int]]:
    """Ranges of matching messages only, as long as they can be: `after` < sequence <= `upto`.

    Args:
        blocks: messages in the order of arrival.
        after: the sequence before their first one.
    """
    schema = pa.schema([(name, COLUMNS[name].type) for name in conditions(where)])
    decoder = BlockDecoder(schema, queue="", queue_kind="")
    upto = after
    for block in blocks:
        wanted = matches(decoder.decode(block), where).to_pylist()
        for lookup_id, is_wanted in zip(block.lookup_ids, wanted, strict=True):
            sequence = lookup_id & SEQUENCE_MASK
            if is_wanted:
                upto = sequence
                continue
            if upto > after:
                yield after, upto
            after = upto = sequence
    if upto > after:
        yield after, upto
