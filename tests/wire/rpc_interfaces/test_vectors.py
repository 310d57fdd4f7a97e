"""Stubs that other encoders made are read, checked field by field, and made again."""

from uuid import UUID

import pytest
from tests.wire.rpc_interfaces.stubs import INTERFACES, STUBS, VECTORS, Vector

from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL
from openmsmq.wire.remote_read.queue_format import QueueFormat, QueueFormatType
from openmsmq.wire.remote_read.section_buffer import SectionBuffer, SectionType
from openmsmq.wire.rpc_interfaces import epm, qm2qm, qmcomm, remote_read
from openmsmq.wire.rpc_interfaces.transfer_buffer import CACTransferBufferV1

GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
HANDLE = bytes(4) + bytes(range(1, 17))
DIRECT = QueueFormat(QueueFormatType.DIRECT, text=r"OS:h\private$\q")
INFINITE = 0xFFFFFFFF
MQ_ERROR_IO_TIMEOUT = 0xC00E001B
TOWER = bytes.fromhex(
    "050013000ddd34911a397bba45ad8844d01ca47f2801000200000013000d045d888aeb1cc9119fe808002b104860"
    "02000200000001000b0200000001000702000000010009040000000000"
)


def open_queue(queue_format: QueueFormat) -> remote_read.OpenQueueRequest:
    return remote_read.OpenQueueRequest(queue_format, 1, 0, GUID, 1, 6, 1, 7600, 1)


def descriptor(buffer: bytes | None = None) -> qm2qm.RemoteReadDesc:
    return qm2qm.RemoteReadDesc(0x100, 0, 0, INFINITE, 0x100, 5, lp_buffer=buffer)


EXPECTED: dict[tuple[str, str], object] = {
    ("remote_read.2.request", "DIRECT"): open_queue(DIRECT),
    ("remote_read.2.request", "PRIVATE"): open_queue(
        QueueFormat(QueueFormatType.PRIVATE, guid=GUID, number=10)
    ),
    ("remote_read.7.request", ""): remote_read.StartReceiveRequest(
        HANDLE, 0x1122334455667788, 0, 0x40000010, 0, 7, 16, 0
    ),
    ("remote_read.7.response", "sections"): remote_read.StartReceiveResponse(
        0x5F000000,
        9,
        (
            SectionBuffer(SectionType.BINARY_FIRST_SECTION, 9, b"HELLO"),
            SectionBuffer(SectionType.BINARY_SECOND_SECTION, 3, b"TRL"),
        ),
        0,
    ),
    ("remote_read.7.response", "TIMEOUT"): remote_read.StartReceiveResponse(
        0, 0, (), MQ_ERROR_IO_TIMEOUT
    ),
    ("remote_read.9.request", ""): remote_read.EndReceiveRequest(HANDLE, 2, 7),
    ("remote_read.10.request", ""): remote_read.MoveMessageRequest(HANDLE, 1, 2, bytes(16)),
    ("remote_read.11.response", ""): remote_read.OpenQueueForMoveResponse(1, HANDLE),
    ("remote_read.12.request", ""): remote_read.QMEnlistRemoteTransactionRequest(
        GUID.bytes_le, b"TOKEN", QueueFormat(QueueFormatType.PUBLIC, guid=GUID)
    ),
    ("remote_read.13.request", ""): remote_read.StartTransactionalReceiveRequest(
        HANDLE, 0, 0, 0, 0, 7, 16, 0, GUID.bytes_le
    ),
    ("remote_read.14.request", ""): remote_read.SetUserAcknowledgementClassRequest(
        HANDLE, 2, 0xC004
    ),
    ("qm2qm.0.request", ""): qm2qm.StartReceiveRequest(descriptor()),
    ("qm2qm.0.response", ""): qm2qm.StartReceiveResponse(HANDLE, descriptor(b"PACKT"), 0),
    ("qm2qm.2.request", ""): qm2qm.OpenQueueRequest(GUID, 0, 0x100, 0x100, 0x100),
    ("qm2qm.9.request", ""): qm2qm.StartReceive2Request(qm2qm.RemoteReadDesc2(descriptor())),
    ("qm2qm.9.response", ""): qm2qm.StartReceive2Response(
        HANDLE, qm2qm.RemoteReadDesc2(descriptor(b"PACKT"), 9), 0
    ),
    ("qm2qm.10.request", ""): qm2qm.StartReceiveByLookupIdRequest(
        9, qm2qm.RemoteReadDesc2(descriptor())
    ),
    ("qmcomm.2.request", ""): qmcomm.QMOpenRemoteQueueRequest(DIRECT, 0, 1, 0, GUID, 0x400),
    ("qmcomm.2.response", ""): qmcomm.QMOpenRemoteQueueResponse(HANDLE, 0x100, 0x100, 0x100, 0),
    ("qmcomm.4.request", ""): qmcomm.QMCreateRemoteCursorRequest(CACTransferBufferV1(), 0x100),
    ("epm.3.request", ""): epm.EptMapRequest(None, epm.Twr(TOWER), CONTEXT_HANDLE_NULL, 4),
    ("epm.3.response", "2103"): epm.EptMapResponse(
        CONTEXT_HANDLE_NULL,
        (epm.Twr(TOWER[:-11] + b"\x08\x37\1\0\x09\4\0\x7f\0\0\1"),),
        4,
        0,
    ),
    ("epm.3.response", "not registered"): epm.EptMapResponse(
        CONTEXT_HANDLE_NULL, (), 4, epm.EPT_S_NOT_REGISTERED
    ),
}


def expected(vector: Vector) -> object:
    (found,) = [
        record
        for (stub, word), record in EXPECTED.items()
        if stub == vector.stub and word in vector.name
    ]
    return found


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.name for vector in VECTORS])
@pytest.mark.parametrize("kind", [bytes, memoryview])
def test_a_stub_has_the_fields_that_its_maker_wrote(
    vector: Vector, kind: type[bytes] | type[memoryview]
) -> None:
    record, end = STUBS[vector.stub].decode(kind(vector.data), vector.syntax)
    assert record == expected(vector)
    assert type(record) is type(expected(vector))
    assert end == len(vector.data)


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.name for vector in VECTORS])
def test_a_stub_is_made_again_byte_for_byte_but_for_referents(vector: Vector) -> None:
    data = bytearray(STUBS[vector.stub].encode(expected(vector), vector.syntax))
    size = vector.syntax.count_size
    for offset in vector.referents:
        assert any(data[offset : offset + size])
        data[offset : offset + size] = vector.data[offset : offset + size]
    assert data == vector.data


@pytest.mark.parametrize("vector", VECTORS, ids=[vector.name for vector in VECTORS])
def test_octets_after_the_last_parameter_are_allowed(vector: Vector) -> None:
    record, end = STUBS[vector.stub].decode(vector.data + b"\xff" * 40, vector.syntax)
    assert record == expected(vector)
    assert end == len(vector.data)


def test_every_opnum_has_its_call() -> None:
    assert {name: list(calls) for name, calls in INTERFACES.items()} == {
        "epm": [2, 3, 4],
        "mgmt": [0, 1, 2, 3, 4],
        "qm2qm": list(range(11)),
        "qmcomm": [2, 3, 4, 31],
        "remote_read": [0, *range(2, 16)],
    }
    assert all(
        call.opnum == opnum for calls in INTERFACES.values() for opnum, call in calls.items()
    )
