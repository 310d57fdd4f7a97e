from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from tests.spark.packets import ORDERS, block_of
from tests.wire.frames import frame_bytes

from openmsmq.spark.columns import INCLUDES, Packets, message_schema
from openmsmq.spark.decoding.block_decoder import BlockDecoder
from openmsmq.spark.decoding.row_decoder import RowDecoder, microseconds, signed_32
from openmsmq.wire.message.srmp_headers import CompoundMessageHeader, SRMPEnvelopeHeader
from openmsmq.wire.message.transaction_header import TransactionHeader, TransactionHeaderFlags
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.message.user_message_patch import patch_authentication
from openmsmq.wire.names.queue_address import direct_address, private_address, public_address
from openmsmq.wire.scalars import MessageIdentifier, TxSequenceID
from openmsmq.wire.security.security_header import SecurityHeader, SecurityHeaderFlags
from openmsmq.wire.security.sid import SID

SOURCE = UUID("01234567-89ab-cdef-0123-456789abcdef")
IDENTIFIER = MessageIdentifier(SOURCE, 7)
SID_TEXT = "S-1-5-21-1-2-3"


def decode(packets: list[bytes], *, body_format: str = "binary") -> list[dict[str, Any]]:
    schema = message_schema(INCLUDES, body_format=body_format)
    decoder = RowDecoder(schema, queue="Q", queue_kind="queue", body_format=body_format)
    rows: list[dict[str, Any]] = decoder.decode(block_of(packets)).to_pylist()
    return rows


def decode_one(body_format: str = "binary", **properties: Any) -> dict[str, Any]:
    properties = {"destination_queue": ORDERS, **properties}
    return decode([build_user_message(**properties)], body_format=body_format)[0]


def test_a_plain_message_has_all_properties() -> None:
    row = decode_one(
        body=b"abc",
        body_type=17,
        label="first",
        source_queue_manager=SOURCE,
        message_id=7,
        sent_time=1_700_000_000,
        priority=5,
        delivery_mode=1,
        time_to_reach_queue=60,
        acknowledgments=5,
        application_tag=0xFFFFFFFF,
        extension=b"ext",
        correlation_id=IDENTIFIER.serialize(),
        negative_journaling=True,
        positive_journaling=True,
    )
    expected = {
        "queue": "Q",
        "queue_kind": "queue",
        "lookup_id": None,
        "id": r"{01234567-89AB-CDEF-0123-456789ABCDEF}\7",
        "correlation_id": r"{01234567-89AB-CDEF-0123-456789ABCDEF}\7",
        "class": 0,
        "class_name": "MQMSG_CLASS_NORMAL",
        "label": "first",
        "app_specific": 0xFFFFFFFF,
        "extension": b"ext",
        "body": b"abc",
        "body_type": 17,
        "body_size": 3,
        "sent_time": datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        "time_to_reach_queue": 60,
        "time_to_be_received": None,
        "destination_queue": r"DIRECT=OS:shop\private$\orders",
        "admin_queue": None,
        "source_queue_manager": "{01234567-89AB-CDEF-0123-456789ABCDEF}",
        "priority": 5,
        "delivery": "recoverable",
        "acknowledge": 5,
        "journal": 3,
        "trace": 0,
        "transactional": False,
        "transaction_id": None,
        "sender_id": None,
        "sender_id_type": 0,
        "decode_error": None,
    }
    assert {name: row[name] for name in expected} == expected


def test_a_transactional_message_says_its_place_in_the_transaction() -> None:
    flags = TransactionHeaderFlags.FM | 0x12340
    header = TransactionHeader(flags, TxSequenceID(1, 2), 3, 2)
    row = decode_one(transaction_header=header, source_queue_manager=SOURCE)
    assert row["transaction_id"] == r"{01234567-89AB-CDEF-0123-456789ABCDEF}\4660"
    assert row["transactional"]
    assert row["first_in_transaction"]
    assert not row["last_in_transaction"]


def test_the_sender_is_a_sid() -> None:
    header = SecurityHeader(1, security_id=SID.from_text(SID_TEXT).serialize())
    row = decode_one(security_header=header, hash_algorithm=0x8004, privacy_level=0xFFFFFFFF)
    assert (row["sender_id"], row["sender_id_type"]) == (SID_TEXT, 1)
    assert (row["hash_alg"], row["privacy_level"]) == (0x8004, -1)


def test_a_signed_message_says_how_and_by_whom() -> None:
    header = SecurityHeader(0x0301, signature=b"signature", sender_cert=b"certificate")
    row = decode_one(security_header=header, hash_algorithm=0x800E)
    assert row["hash_algorithm"] == "sha512"
    assert row["sender_certificate"] == "Y2VydGlmaWNhdGU="
    packet = UserMessage(build_user_message(destination_queue=ORDERS, security_header=header))
    # Only a receiver says that it has verified a signature.
    assert not row["authenticated"]
    for level, name in ((1, "sig10"), (3, "sig20"), (5, "sig30"), (9, "sigxml")):
        (verified,) = decode([patch_authentication(packet, authenticated=True, level=level)])
        assert (verified["authenticated"], verified["authentication_level"]) == (True, name)
    unsigned = decode_one(hash_algorithm=0x800E)
    assert unsigned["authentication_level"] == "none"
    assert (unsigned["hash_algorithm"], unsigned["sender_certificate"]) == (None, None)


@pytest.mark.parametrize(
    ("machine", "transport"),
    [(str(SOURCE), "local"), (str(UUID(int=5)), "binary"), ("", None)],
)
def test_a_row_says_how_its_message_came(machine: str, transport: str | None) -> None:
    packet = build_user_message(destination_queue=ORDERS, source_queue_manager=SOURCE)
    schema = message_schema(["headers", "soap"])
    for kind in (RowDecoder, BlockDecoder):
        decoder = kind(schema, queue="Q", queue_kind="queue", machine=machine)
        (row,) = decoder.decode(block_of([packet])).to_pylist()
        assert row["transport"] == transport
        assert (row["soap_envelope"], row["compound_message"]) == (None, None)


@pytest.mark.parametrize("kind", [RowDecoder, BlockDecoder])
def test_a_message_that_came_over_http_shows_its_request(
    kind: type[RowDecoder | BlockDecoder],
) -> None:
    packet = build_user_message(
        destination_queue=direct_address("HTTPS://shop/msmq/private$/orders"),
        body=b"",
        srmp_headers=(
            SRMPEnvelopeHeader("<Envelope/>"),
            CompoundMessageHeader(b"POST a body", 6, 5),
        ),
    )
    decoder = kind(message_schema(INCLUDES), queue="Q", queue_kind="queue")
    (row,) = decoder.decode(block_of([packet])).to_pylist()
    assert (row["transport"], row["soap_envelope"]) == ("https", "<Envelope/>")
    assert (row["compound_message"], row["body"]) == (b"POST a body", b"a body")


def test_addresses_are_format_names() -> None:
    row = decode_one(
        admin_queue=private_address(SOURCE, 0x1F), response_queue=public_address(SOURCE)
    )
    assert row["admin_queue"] == r"PRIVATE=01234567-89ab-cdef-0123-456789abcdef\1f".upper()
    assert row["response_queue"] == "PUBLIC=01234567-89ab-cdef-0123-456789abcdef".upper()


def test_the_example_of_the_specification_is_read() -> None:
    row = decode([frame_bytes(7)])[0]
    assert row["decode_error"] is None
    assert row["sender_id"].startswith("S-1-5-")


def test_a_malformed_packet_is_kept_with_the_reason() -> None:
    packet = build_user_message(destination_queue=ORDERS, label="cut")[:-1]
    whole, cut = decode([build_user_message(destination_queue=ORDERS), packet])
    assert whole["decode_error"] is None
    assert cut["decode_error"].startswith("BaseHeader.PacketSize at offset 8")
    assert cut["raw_packet"] == packet
    assert {value for name, value in cut.items() if name not in ("raw_packet", "decode_error")} == {
        "Q",
        "queue",
        None,
    }


def test_what_the_queue_keeps_beside_the_packet_is_there() -> None:
    packet = build_user_message(destination_queue=ORDERS)
    lookup_id = 4 << 56 | 99
    block = Packets(packet * 2, [len(packet), 2 * len(packet)], [lookup_id, 1], [1.5, 2.25])
    block = block._replace(counters=[(1, 2, 3, 4.5)])
    decoder = RowDecoder(message_schema(), queue=None, queue_kind=None)
    first, second = decoder.decode(block).to_pylist()
    assert (first["lookup_id"], first["seq"], first["queue"]) == (lookup_id, 99, None)
    assert first["arrived_time"] == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)
    assert (first["abort_count"], first["move_count"], first["last_move_time"]) == (0, 0, None)
    assert (second["abort_count"], second["move_count"]) == (2, 3)
    assert second["last_move_time"] == datetime(1970, 1, 1, 0, 0, 4, 500_000, tzinfo=UTC)


def test_columns_of_the_block_may_be_arrays() -> None:
    packet = build_user_message(destination_queue=ORDERS)
    block = Packets(packet, np.array([len(packet)]), np.array([5]), np.array([1.5]))
    rows = RowDecoder(message_schema(), queue="Q", queue_kind="queue").decode(block).to_pylist()
    assert rows[0]["lookup_id"] == 5


def test_only_the_columns_that_were_asked_for_are_made() -> None:
    schema = pa.schema([("label", pa.string()), ("queue", pa.string())])
    decoder = RowDecoder(schema, queue="Q", queue_kind="queue")
    batch = decoder.decode(block_of([build_user_message(destination_queue=ORDERS, label="x")]))
    assert batch.schema == schema
    assert batch.to_pylist() == [{"label": "x", "queue": "Q"}]


def test_an_empty_block_gives_no_rows() -> None:
    assert decode([]) == []


def test_the_text_of_a_body_that_is_encrypted_is_not_guessed() -> None:
    header = SecurityHeader(int(SecurityHeaderFlags.EB))
    row = decode_one("auto", body=b"looks like text", security_header=header)
    assert (row["body_text"], row["decode_error"]) == (None, "body: is encrypted")


def test_a_body_of_another_format_is_kept_with_the_reason() -> None:
    row = decode_one("xml", body=b"{}", label="x")
    assert (row["body_text"], row["decode_error"]) == (None, "body: is json, not xml")
    assert (row["body"], row["label"]) == (b"{}", "x")


def test_a_schema_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(ValueError, match="no column 'sender'"):
        RowDecoder(pa.schema([("sender", pa.string())]), queue=None, queue_kind=None)


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.0, 0), (1.0000016, 1_000_002), (1.9999999, 2_000_000)]
)
def test_times_are_rounded_to_microseconds(seconds: float, expected: int) -> None:
    assert microseconds(seconds) == expected


def test_large_numbers_wrap_in_a_signed_column() -> None:
    assert [signed_32(number) for number in (0, 2**31 - 1, 2**31, 2**32 - 1)] == [
        0,
        2**31 - 1,
        -(2**31),
        -1,
    ]
