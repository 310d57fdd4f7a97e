from hypothesis import given, settings
from hypothesis import strategies as st
from tests.spark.packets import blocks

from openmsmq.spark.block_decoder import BlockDecoder
from openmsmq.spark.columns import BODY_FORMATS, INCLUDES, Packets, message_schema
from openmsmq.spark.row_decoder import RowDecoder


@given(blocks(), st.sampled_from(BODY_FORMATS))
@settings(max_examples=300, deadline=None)
def test_rows_are_the_same_as_one_at_a_time(block: Packets, body_format: str) -> None:
    schema = message_schema(INCLUDES, body_format=body_format)
    options = {"queue": "q", "queue_kind": "journal", "body_format": body_format}
    expected = RowDecoder(schema, **options).decode(block)
    found = BlockDecoder(schema, **options).decode(block)
    found.validate(full=True)
    assert found.schema == expected.schema
    assert found.to_pylist() == expected.to_pylist()
    assert found.equals(expected)
