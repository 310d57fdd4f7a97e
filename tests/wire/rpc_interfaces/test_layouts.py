"""Every opnum has the octets that the specification says."""

import pytest
from tests.wire.rpc_interfaces.layouts import HANDLE, LAYOUTS
from tests.wire.rpc_interfaces.stubs import INTERFACES, STUBS

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.ndr import NDR, TRANSFER_SYNTAXES, TransferSyntax
from openmsmq.wire.rpc_interfaces import remote_read


@pytest.mark.parametrize(
    ("name", "record", "octets"),
    [
        pytest.param(name, record, octets, id=name, marks=[pytest.mark.spec(*rows)] if rows else [])
        for name, record, octets, rows in LAYOUTS
    ],
)
def test_the_octets_of_a_call(name: str, record: object, octets: str) -> None:
    raw = bytes.fromhex(octets)
    assert STUBS[name].encode(record, NDR) == raw
    assert STUBS[name].decode(raw, NDR) == (record, len(raw))
    for size in range(len(raw)):
        with pytest.raises(MalformedPacket):
            STUBS[name].decode(raw[:size], NDR)


def test_every_stub_has_a_layout() -> None:
    assert {name for name, *_ in LAYOUTS} == set(STUBS)


@pytest.mark.spec("MQRR-3.1.4-04", "MQQP-3.1.4-02")
def test_the_names_of_the_opnums() -> None:
    names = {
        interface: " ".join(call.name for call in calls.values())
        for interface, calls in INTERFACES.items()
    }
    assert names["remote_read"] == (
        "R_GetServerPort R_OpenQueue R_CloseQueue R_CreateCursor R_CloseCursor R_PurgeQueue "
        "R_StartReceive R_CancelReceive R_EndReceive R_MoveMessage R_OpenQueueForMove "
        "R_QMEnlistRemoteTransaction R_StartTransactionalReceive R_SetUserAcknowledgementClass "
        "R_EndTransactionalReceive"
    )
    assert names["qm2qm"] == (
        "RemoteQMStartReceive RemoteQMEndReceive RemoteQMOpenQueue RemoteQMCloseQueue "
        "RemoteQMCloseCursor RemoteQMCancelReceive RemoteQMPurgeQueue RemoteQMGetQMQMServerPort "
        "RemoteQmGetVersion RemoteQMStartReceive2 RemoteQMStartReceiveByLookupId"
    )


@pytest.mark.spec("MQRR-2.2.4-02")
@pytest.mark.parametrize("syntax", TRANSFER_SYNTAXES, ids=["NDR", "NDR64"])
def test_a_handle_is_the_same_octets_wherever_it_goes(syntax: TransferSyntax) -> None:
    opened = STUBS["remote_read.2.response"].encode(remote_read.OpenQueueResponse(HANDLE), syntax)
    assert opened == HANDLE
    for opnum in (3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15):
        record = STUBS[f"remote_read.{opnum}.request"].decode(
            opened + bytes([1]) + bytes(100), syntax
        )[0]
        assert record[0] == HANDLE
