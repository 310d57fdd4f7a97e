"""Structures with unions: QUEUE_FORMAT and CACTransferBufferV1."""

from typing import Any

import pytest
from tests.wire.rpc_interfaces.layouts import GUID, OPEN, UOW, G
from tests.wire.rpc_interfaces.stubs import STUBS

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr import NDR, NDR64, TRANSFER_SYNTAXES, TransferSyntax
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.rpc_interfaces import qmcomm, remote_read
from openmsmq.wire.rpc_interfaces.transfer_buffer import (
    CACTransferBufferV1,
    CreateCursor,
    Receive,
    Send,
)

DIRECT_TEXT = "02000000 00000000 02000000 7100 0000"
QUEUE_FORMATS = [
    (QueueFormat(0), "00 00 0000 00"),
    (QueueFormat(1, 0, GUID), f"01000000 01000000 {G}"),
    (QueueFormat(2, 0, GUID, 7), f"02000000 02000000 {G} 07000000"),
    (QueueFormat(3, 0, text="q"), f"03000000 03000000 00000200 {DIRECT_TEXT}"),
    (QueueFormat(3, 0), "03000000 03000000 00000000"),
    (QueueFormat(4, 0x82, GUID), f"04820000 04000000 {G}"),
    (QueueFormat(5, 0x84, GUID), f"05840000 05000000 {G}"),
    (QueueFormat(6, 0, GUID, text="q"), f"06000000 06000000 {G} 00000200 {DIRECT_TEXT}"),
    (QueueFormat(7, 0, address=1, port=2), "07000000 07000000 01000000 02000000"),
    (QueueFormat(8, 5, text="q"), f"08050000 08000000 00000200 {DIRECT_TEXT}"),
]


@pytest.mark.spec("MQRR-2.2.3-03")
@pytest.mark.parametrize(("queue_format", "octets"), QUEUE_FORMATS)
def test_each_kind_of_name_has_its_arm(queue_format: QueueFormat, octets: str) -> None:
    stub = STUBS["remote_read.12.request"]
    record = remote_read.QMEnlistRemoteTransactionRequest(UOW, b"", queue_format)
    raw = bytes.fromhex(f"{G} 00000000 00000000 {octets}")
    assert stub.encode(record, NDR) == raw
    assert stub.decode(raw, NDR) == (record, len(raw))
    assert stub.decode(stub.encode(record, NDR64), NDR64)[0] == record


def test_a_name_of_another_kind_is_neither_read_nor_written() -> None:
    stub = STUBS["remote_read.12.request"]
    raw = bytes.fromhex(f"{G} 00000000 00000000 09000000 09000000 {G}")
    with pytest.raises(MalformedPacket, match="tag 9"):
        stub.decode(raw, NDR)
    record = remote_read.QMEnlistRemoteTransactionRequest(UOW, b"", QueueFormat(9))
    with pytest.raises(ValueError, match="tag 9"):
        stub.encode(record, NDR)


PRIVATE = OPEN._replace(p_queue_format=QueueFormat(2, 0, GUID, 7))
TRAILER = bytes.fromhex("8ae3137102f43671 01400400 01000000")


@pytest.mark.parametrize("trailer", [b"", TRAILER])
@pytest.mark.parametrize("gap", [0, 4])
def test_the_gap_after_a_private_name_may_be_missing_in_ndr64(gap: int, trailer: bytes) -> None:
    stub = STUBS["remote_read.2.request"]
    whole = stub.encode(PRIVATE, NDR64)
    raw = whole[:36] + whole[40 - gap :]
    assert len(whole) == 76
    assert stub.decode(raw + trailer, NDR64) == (PRIVATE, len(raw))


def test_other_octets_after_a_private_name_leave_the_gap_in_place() -> None:
    stub = STUBS["remote_read.2.request"]
    whole = stub.encode(PRIVATE, NDR64)
    assert stub.decode(whole + bytes(20), NDR64) == (PRIVATE, len(whole))


# Any: the arms of a union.
@pytest.mark.parametrize(
    ("transfer_type", "arm"),
    [
        (0, Send(QueueFormat(0), QueueFormat(3, text="q"))),
        (1, Receive(ul_admin_format_name_len=2, pp_admin_format_name=b"abcd")),
        (2, CreateCursor(1, 2, 3)),
    ],
)
@pytest.mark.parametrize("syntax", TRANSFER_SYNTAXES, ids=["NDR", "NDR64"])
def test_a_transfer_buffer_is_decoded_to_find_what_follows(
    transfer_type: int, arm: Any, syntax: TransferSyntax
) -> None:
    stub = STUBS["qmcomm.4.request"]
    record = qmcomm.QMCreateRemoteCursorRequest(
        CACTransferBufferV1(
            transfer_type,
            arm,
            pp_body=b"body",
            ul_body_buffer_size_in_bytes=4,
            ul_alloc_body_buffer_in_bytes=9,
            p_trace=1,
            pp_src_qm_id=GUID,
        ),
        0x100,
    )
    raw = stub.encode(record, syntax)
    assert stub.decode(raw, syntax) == (record, len(raw))


def test_a_zeroed_transfer_buffer_has_448_octets_in_ndr64() -> None:
    record = qmcomm.QMCreateRemoteCursorRequest(CACTransferBufferV1(), 0x100)
    raw = STUBS["qmcomm.4.request"].encode(record, NDR64)
    assert raw == bytes(448) + b"\0\1\0\0"
