"""Bodies in DataFrames, with a real Spark."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.spark.packets import ORDERS, block_of

from openmsmq.spark.bodies.formats import (
    BodySchema,
    infer_body_schema,
    parse_bodies,
    with_body_text,
)
from openmsmq.spark.columns import message_schema
from openmsmq.spark.decoding.block_decoder import BlockDecoder
from openmsmq.wire.bodies import encode_body
from openmsmq.wire.message.user_message_builder import build_user_message

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NET_ORDER = (
    '<?xml version="1.0"?>\r\n<Order xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns:xsd="http://www.w3.org/2001/XMLSchema"><Id>{}</Id><Total>{}</Total></Order>'
)


def packet(label: str, body: str | bytes | int | datetime, **properties: Any) -> bytes:
    raw, body_type = encode_body(body)
    options = {"body": raw, "body_type": body_type, "label": label, **properties}
    return build_user_message(destination_queue=ORDERS, **options)


PACKETS = [
    packet("order", NET_ORDER.format(1, 10).encode()),
    packet("order", NET_ORDER.format(2, 10.5)),
    packet("order", b"<Order><Id>3</Id><Note>late</Note></Order>"),
    packet("order", "<Refund><Id>4</Id></Refund>"),
    packet("event", b'{"kind": "paid", "order": 1}'),
    packet("event", b'{"kind": "sent", "order": 1, "parcels": [1, 2]}'),
    packet("event", b"\x00\x01\x02\xff"),
    packet("note", "hello"),
]


def frame(spark: "SparkSession", packets: list[bytes]) -> "DataFrame":
    """Messages as an archive has them."""
    decoder = BlockDecoder(message_schema(), queue="q", queue_kind="queue")
    return spark.createDataFrame(pa.Table.from_batches([decoder.decode(block_of(packets))]))


@pytest.fixture(scope="module")
def messages(spark: "SparkSession") -> "DataFrame":
    return frame(spark, PACKETS).select("label", "body", "body_type", "encrypted", "decode_error")


def test_every_message_type_gets_a_schema_of_its_own(messages: "DataFrame") -> None:
    found = {
        (schema.by["label"], schema.by["root"], schema.format): (
            schema.count,
            schema.schema and schema.schema.simpleString(),
        )
        for schema in infer_body_schema(messages)
    }
    assert found == {
        ("order", "Order", "xml"): (3, "struct<Id:bigint,Note:string,Total:double>"),
        ("order", "Refund", "xml"): (1, "struct<Id:bigint>"),
        ("event", None, "json"): (2, "struct<kind:string,order:bigint,parcels:array<bigint>>"),
        ("event", None, "binary"): (1, None),
        ("note", None, "text"): (1, None),
    }


def test_types_can_be_told_apart_by_less(messages: "DataFrame") -> None:
    (only,) = infer_body_schema(messages.where("label = 'order'"), by=())
    assert only.schema is not None
    assert only == BodySchema({}, "xml", 4, only.schema)
    assert only.schema.simpleString() == "struct<Id:bigint,Note:string,Total:double>"


def test_no_more_is_looked_at_than_the_sample(messages: "DataFrame") -> None:
    assert sum(schema.count for schema in infer_body_schema(messages, sample=3)) == 3


def test_a_column_to_tell_types_by_must_be_there(messages: "DataFrame") -> None:
    with pytest.raises(ValueError, match="by: there is no column 'lable'"):
        infer_body_schema(messages, by=["lable"])


def test_the_schema_of_a_stream_must_be_given(spark: "SparkSession") -> None:
    with pytest.raises(ValueError, match="df: is a stream"):
        infer_body_schema(spark.readStream.format("rate").load())


def test_bodies_are_parsed_into_columns_by_an_inferred_schema(messages: "DataFrame") -> None:
    orders = messages.where("label = 'order'").limit(3)
    rows = parse_bodies(orders, infer_body_schema(orders)[0]).select("value.*", "decode_error")
    assert {tuple(row) for row in rows.collect()} == {
        (1, None, 10.0, None),
        (2, None, 10.5, None),
        (3, "late", None, None),
    }


def test_what_does_not_fit_the_schema_is_kept_with_an_error(spark: "SparkSession") -> None:
    bodies: list[str | bytes] = [
        b'{"order": 1}',
        b'{"order": "many"}',
        b"[1]",
        b"hello",
        b"\x00\x01\x02\xff",
        '{"order": 6}',
    ]
    df = frame(spark, [packet("event", body) for body in bodies] + [b"no packet"])
    rows = parse_bodies(df, "order bigint", "json", column="event").collect()
    assert [row.event and row.event.order for row in rows] == [1, None, None, None, None, 6, None]
    assert [row.decode_error for row in rows] == [
        None,
        "body: does not fit the schema of its json",
        "body: does not fit the schema of its json",
        "body: is text, not json",
        "body: is bytes, not json",
        None,
        "UserMessage at offset 0: needs 120 bytes, has 9",
    ]


def test_an_array_is_parsed_too(spark: "SparkSession") -> None:
    df = frame(spark, [packet("event", body) for body in (b"[1, 2]", b'{"a": 1}')])
    rows = parse_bodies(df, "array<int>", "json").collect()
    assert [row.value for row in rows] == [[1, 2], None]
    assert [row.decode_error is None for row in rows] == [True, False]


def test_a_text_that_is_there_already_is_used(spark: "SparkSession") -> None:
    df = spark.createDataFrame([("<a><b>1</b></a>",)], "body_text string")
    row = parse_bodies(df, "b int", "xml").first()
    assert row is not None
    assert (row.value.b, row.decode_error) == (1, None)


@pytest.mark.parametrize(
    ("schema", "body_format", "reason"),
    [
        ("a int", None, "bodyFormat: None must be one of xml, json"),
        ("a int", "text", "bodyFormat: 'text' must be one of xml, json"),
        (BodySchema({}, "binary", 1, None), None, "bodyFormat: 'binary' must be one of"),
        ("array<int>", "xml", "schema: xml cannot be parsed into array<int>"),
        ("int", "json", "schema: json cannot be parsed into"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(
    messages: "DataFrame", schema: BodySchema | str, body_format: str | None, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_bodies(messages, schema, body_format)


def test_text_of_any_body_comes_with_its_type(spark: "SparkSession") -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    df = frame(
        spark, [packet("any", body) for body in ("é", b"plain", 42, moment, b"\x00\x01\x02\xff")]
    )
    rows = with_body_text(df, "auto").collect()
    expected = ["é", "plain", "42", "2026-01-02T03:04:05", None]
    assert [row.body_text for row in rows] == expected
    assert {row.decode_error for row in rows} == {None}


@pytest.mark.parametrize(
    ("body_format", "columns", "reason"),
    [
        ("binary", ["body", "body_type"], "'binary' makes no text; use one of text, auto"),
        ("yaml", ["body", "body_type"], "'yaml' must be one of binary"),
        ("text", ["body"], "df: has no column 'body_type'"),
    ],
)
def test_text_that_cannot_be_made_is_refused(
    messages: "DataFrame", body_format: str, columns: list[str], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        with_body_text(messages.select(*columns), body_format)
