import pyarrow as pa
import pytest

from openmsmq.client.received_message import PROPERTIES
from openmsmq.spark.columns import COLUMNS, INCLUDES, Packets, check_schema, message_schema


def test_every_property_of_a_received_message_is_a_column() -> None:
    # In a row the bytes of the body are the body.
    assert set(PROPERTIES) - {"body_base64"} <= set(message_schema().names)


def test_the_default_has_headers_and_body_but_neither_packet_nor_security() -> None:
    names = message_schema().names
    assert {"label", "body", "decode_error"} <= set(names)
    assert {"raw_packet", "hash_alg", "body_text"}.isdisjoint(names)


def test_all_parts_give_all_columns() -> None:
    assert message_schema(INCLUDES, body_format="auto").names == list(COLUMNS)


def test_each_part_adds_its_own_columns() -> None:
    least = set(message_schema(()).names)
    assert least == {"queue", "queue_kind", "lookup_id", "seq", "decode_error"}
    assert set(message_schema(["body"]).names) - least == {"body"}
    assert set(message_schema(["packet"]).names) - least == {"raw_packet"}
    security = {"sender_id_type", "hash_alg"}
    assert set(message_schema(["security"]).names) - least == security
    soap = {"soap_envelope", "compound_message"}
    assert set(message_schema(["soap"]).names) - least == soap


def test_the_text_of_the_body_is_there_when_it_was_asked_for() -> None:
    assert "body_text" in message_schema(body_format="text").names
    assert "body_text" not in message_schema(["headers"], body_format="text").names


def test_times_are_microseconds_of_utc_and_texts_are_small() -> None:
    schema = message_schema()
    assert schema.field("sent_time").type == pa.timestamp("us", tz="UTC")
    assert schema.field("label").type == pa.string()


def test_an_unknown_part_is_named_with_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match="include: 'boddy' must be one of headers, body, packet, security, soap"
    ):
        message_schema(["boddy"])


def test_an_unknown_body_format_is_named_with_the_known_ones() -> None:
    expected = "bodyFormat: 'yaml' must be one of binary, text, auto, xml, json"
    with pytest.raises(ValueError, match=expected):
        message_schema(body_format="yaml")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ([("sender", pa.string())], "no column 'sender'"),
        ([("label", pa.large_string())], "'label' is string, not large_string"),
        ([("body_text", pa.string())], "'body_text' needs a bodyFormat"),
        ([("label", pa.string()), ("label", pa.string())], "twice"),
    ],
)
def test_a_schema_that_no_decoder_can_make_is_refused(
    fields: list[tuple[str, pa.DataType]], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        check_schema(pa.schema(fields), "binary")


def test_a_part_of_the_columns_in_any_order_is_accepted() -> None:
    check_schema(pa.schema([("seq", pa.int64()), ("body_text", pa.string())]), "text")


def test_packets_from_elsewhere_have_no_record() -> None:
    packets = Packets(b"", [])
    assert not packets.lookup_ids
    assert not packets.arrived_times
    assert not packets.counters
