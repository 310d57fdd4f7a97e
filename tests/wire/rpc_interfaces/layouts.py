"""The octets of every opnum in NDR, written by hand from the tables of the specifications."""

from uuid import UUID

from openmsmq.wire.ndr import CONTEXT_HANDLE_NULL
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.remote_read.section_buffer import SectionBuffer, SectionType
from openmsmq.wire.rpc_interfaces import epm, mgmt, qm2qm, qmcomm, remote_read
from openmsmq.wire.rpc_interfaces.common import NoParameters, ResultResponse
from openmsmq.wire.rpc_interfaces.transfer_buffer import CACTransferBufferV1, CreateCursor

H = "0000000001020304 05060708090a0b0c 0d0e0f10"
HANDLE = bytes.fromhex(H)
NULL = "00" * 20
G = "33221100554477668899aabbccddeeff"
GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
UOW = bytes.fromhex(G)
FAILED = 0xC00E0001
OPEN = remote_read.OpenQueueRequest(QueueFormat(1, 0x81, GUID), 4, 0, GUID, -1, 6, 1, 0x1DB0, 0)
OPEN_OCTETS = f"01810000 01000000 {G} 04000000 00000000 {G} ffffffff 0601 b01d 00000000"
RESULT = (ResultResponse(FAILED), "01000ec0")
READ = (HANDLE, 1, 2, 3, 4, 5, 6, 7)
READ_OCTETS = f"{H} 00000000 0100000000000000 02000000 03000000 04000000 05000000 06000000 07000000"
SECTIONS = remote_read.StartReceiveResponse(
    1,
    2,
    (
        SectionBuffer(SectionType.SRMP_FIRST_SECTION, 9, b"abcde"),
        SectionBuffer(SectionType.SRMP_SECOND_SECTION, 2, b"xy"),
    ),
    0,
)
SECTIONS_OCTETS = (
    "01000000 00000000 0200000000000000 02000000 00000200 02000000"
    "03000000 09000000 05000000 04000200 04000000 02000000 02000000 08000200"
    "05000000 6162636465 000000 02000000 7879 0000 00000000"
)
DESC = qm2qm.RemoteReadDesc(1, 2, 3, 4, 5, 6, 7, 8, 2, b"abc")
DESC_OCTETS = (
    "01000000 02000000 03000000 04000000 03000000 05000000 06000000 07000000 08000000 02000000"
)
BUFFER_OCTETS = "03000000 00000000 03000000 616263 00"
DESC2 = qm2qm.RemoteReadDesc2(DESC, 9)

# Stub, record, octets and the rows of docs/conformance that they prove.
LAYOUTS: list[tuple[str, object, str, tuple[str, ...]]] = [
    ("remote_read.0.request", NoParameters(), "", ("MQRR-3.1.4.1-01",)),
    ("remote_read.0.response", ResultResponse(2103), "37080000", ("MQRR-3.1.4.1-01",)),
    ("remote_read.2.request", OPEN, OPEN_OCTETS, ("MQRR-3.1.4.2-01", "MQRR-2.2.3-03")),
    ("remote_read.2.response", remote_read.OpenQueueResponse(HANDLE), H, ("MQRR-3.1.4.2-02",)),
    ("remote_read.3.request", remote_read.CloseQueueRequest(HANDLE), H, ("MQRR-3.1.4.3-01",)),
    (
        "remote_read.3.response",
        remote_read.CloseQueueResponse(CONTEXT_HANDLE_NULL, FAILED),
        f"{NULL} 01000ec0",
        ("MQRR-3.1.4.3-01", "MQRR-2.2.1-01"),
    ),
    ("remote_read.4.request", remote_read.HandleRequest(HANDLE), H, ("MQRR-3.1.4.4-01",)),
    (
        "remote_read.4.response",
        remote_read.CreateCursorResponse(5, 0),
        "05000000 00000000",
        ("MQRR-3.1.4.4-01",),
    ),
    (
        "remote_read.5.request",
        remote_read.CloseCursorRequest(HANDLE, 5),
        f"{H} 05000000",
        ("MQRR-3.1.4.5-01",),
    ),
    ("remote_read.5.response", *RESULT, ("MQRR-3.1.4.5-01", "MQRR-2.2.1-01")),
    ("remote_read.6.request", remote_read.HandleRequest(HANDLE), H, ("MQRR-3.1.4.6-01",)),
    ("remote_read.6.response", *RESULT, ("MQRR-3.1.4.6-01",)),
    (
        "remote_read.7.request",
        remote_read.StartReceiveRequest(*READ),
        READ_OCTETS,
        ("MQRR-3.1.4.7-01",),
    ),
    (
        "remote_read.7.response",
        SECTIONS,
        SECTIONS_OCTETS,
        ("MQRR-3.1.4.7-02", "MQRR-3.1.4.7-30", "MQRR-2.2.6-02"),
    ),
    (
        "remote_read.8.request",
        remote_read.CancelReceiveRequest(HANDLE, 5),
        f"{H} 05000000",
        ("MQRR-3.1.4.8-01",),
    ),
    ("remote_read.8.response", *RESULT, ("MQRR-3.1.4.8-01",)),
    (
        "remote_read.9.request",
        remote_read.EndReceiveRequest(HANDLE, 1, 5),
        f"{H} 01000000 05000000",
        ("MQRR-3.1.4.9-01",),
    ),
    ("remote_read.9.response", *RESULT, ("MQRR-3.1.4.9-01",)),
    (
        "remote_read.10.request",
        remote_read.MoveMessageRequest(HANDLE, 1, 2, UOW),
        f"{H} 00000000 0100000000000000 0200000000000000 {G}",
        ("MQRR-3.1.4.10-01", "MQRR-2.2.8-01"),
    ),
    ("remote_read.10.response", *RESULT, ("MQRR-3.1.4.10-01",)),
    ("remote_read.11.request", OPEN, OPEN_OCTETS, ("MQRR-3.1.4.11-01",)),
    (
        "remote_read.11.response",
        remote_read.OpenQueueForMoveResponse(7, HANDLE),
        f"0700000000000000 {H}",
        ("MQRR-3.1.4.11-01",),
    ),
    (
        "remote_read.12.request",
        remote_read.QMEnlistRemoteTransactionRequest(UOW, b"abc", QueueFormat(2, 0, GUID, 7)),
        f"{G} 03000000 03000000 616263 00 02000000 02000000 {G} 07000000",
        ("MQRR-3.1.4.12-01", "MQRR-2.2.3-03", "MQRR-2.2.8-01"),
    ),
    ("remote_read.12.response", *RESULT, ("MQRR-3.1.4.12-01",)),
    (
        "remote_read.13.request",
        remote_read.StartTransactionalReceiveRequest(*READ, UOW),
        f"{READ_OCTETS} {G}",
        ("MQRR-3.1.4.13-01",),
    ),
    ("remote_read.13.response", SECTIONS, SECTIONS_OCTETS, ("MQRR-3.1.4.13-01",)),
    (
        "remote_read.14.request",
        remote_read.SetUserAcknowledgementClassRequest(HANDLE, 1, 0xC004),
        f"{H} 00000000 0100000000000000 04c0",
        ("MQRR-3.1.4.14-01",),
    ),
    ("remote_read.14.response", *RESULT, ("MQRR-3.1.4.14-01",)),
    (
        "remote_read.15.request",
        remote_read.EndReceiveRequest(HANDLE, 2, 5),
        f"{H} 02000000 05000000",
        ("MQRR-3.1.4.15-01",),
    ),
    ("remote_read.15.response", *RESULT, ("MQRR-3.1.4.15-01",)),
    (
        "qm2qm.0.request",
        qm2qm.StartReceiveRequest(DESC),
        f"{DESC_OCTETS} 00000200 {BUFFER_OCTETS}"[:-3],
        ("MQQP-2.2.2.1-01", "MQQP-3.1.4.1-01", "MQQP-2.2.1.3-01"),
    ),
    (
        "qm2qm.0.response",
        qm2qm.StartReceiveResponse(HANDLE, DESC, 1),
        f"{H} {DESC_OCTETS} 00000200 {BUFFER_OCTETS} 01000000",
        ("MQQP-2.2.2.1-02", "MQQP-3.1.4.1-02"),
    ),
    (
        "qm2qm.1.request",
        qm2qm.EndReceiveRequest(HANDLE, 2),
        f"{H} 02000000",
        ("MQQP-3.1.4.2-01",),
    ),
    (
        "qm2qm.1.response",
        qm2qm.EndReceiveResponse(CONTEXT_HANDLE_NULL, 1),
        f"{NULL} 01000000",
        ("MQQP-3.1.4.2-01",),
    ),
    (
        "qm2qm.2.request",
        qm2qm.OpenQueueRequest(GUID, 16, 1, 2, 3),
        f"{G} 10000000 01000000 02000000 03000000",
        ("MQQP-3.1.4.3-01",),
    ),
    (
        "qm2qm.2.response",
        qm2qm.OpenQueueResponse(HANDLE, 1),
        f"{H} 01000000",
        ("MQQP-3.1.4.3-01",),
    ),
    ("qm2qm.3.request", qm2qm.CloseQueueRequest(HANDLE), H, ("MQQP-3.1.4.4-01",)),
    (
        "qm2qm.3.response",
        qm2qm.CloseQueueResponse(CONTEXT_HANDLE_NULL, 1),
        f"{NULL} 01000000",
        ("MQQP-3.1.4.4-01",),
    ),
    (
        "qm2qm.4.request",
        qm2qm.CloseCursorRequest(1, 2),
        "01000000 02000000",
        ("MQQP-3.1.4.5-01",),
    ),
    ("qm2qm.4.response", *RESULT, ("MQQP-3.1.4.5-01",)),
    (
        "qm2qm.5.request",
        qm2qm.CancelReceiveRequest(1, 2, 3),
        "01000000 02000000 03000000",
        ("MQQP-3.1.4.6-01",),
    ),
    ("qm2qm.5.response", *RESULT, ("MQQP-3.1.4.6-01",)),
    ("qm2qm.6.request", qm2qm.PurgeQueueRequest(1), "01000000", ("MQQP-3.1.4.7-01",)),
    ("qm2qm.6.response", *RESULT, ("MQQP-3.1.4.7-01",)),
    ("qm2qm.7.request", qm2qm.GetQMQMServerPortRequest(3), "03000000", ("MQQP-3.1.4.8-01",)),
    ("qm2qm.7.response", ResultResponse(2105), "39080000", ("MQQP-3.1.4.8-01",)),
    ("qm2qm.8.request", NoParameters(), "", ("MQQP-3.1.4.9-01",)),
    (
        "qm2qm.8.response",
        qm2qm.GetVersionResponse(6, 1, 0x1983),
        "06018319",
        ("MQQP-3.1.4.9-01",),
    ),
    (
        "qm2qm.9.request",
        qm2qm.StartReceive2Request(
            DESC2._replace(p_remote_read_desc=DESC._replace(lp_buffer=None))
        ),
        "00000200 00000000 0900000000000000"
        + DESC_OCTETS.replace("04000000 03000000", "04000000 00000000")
        + "00000000",
        ("MQQP-2.2.2.2-01", "MQQP-3.1.4.10-01"),
    ),
    (
        "qm2qm.9.response",
        qm2qm.StartReceive2Response(HANDLE, DESC2, 1),
        (
            f"{H} 00000000 00000200 00000000 0900000000000000 {DESC_OCTETS}"
            f"04000200 {BUFFER_OCTETS} 01000000"
        ),
        ("MQQP-2.2.2.2-01", "MQQP-3.1.4.10-02"),
    ),
    (
        "qm2qm.10.request",
        qm2qm.StartReceiveByLookupIdRequest(8, qm2qm.RemoteReadDesc2(None, 9)),
        "0800000000000000 00000000 00000000 0900000000000000",
        ("MQQP-3.1.4.11-01",),
    ),
    (
        "qm2qm.10.response",
        qm2qm.StartReceive2Response(HANDLE, qm2qm.RemoteReadDesc2(None, 9), FAILED),
        f"{H} 00000000 00000000 00000000 0900000000000000 01000ec0",
        ("MQQP-3.1.4.11-01",),
    ),
    (
        "qmcomm.2.request",
        qmcomm.QMOpenRemoteQueueRequest(None, 1, 2, 3, GUID, 4),
        f"00000000 01000000 02000000 03000000 {G} 04000000",
        (),
    ),
    (
        "qmcomm.2.response",
        qmcomm.QMOpenRemoteQueueResponse(HANDLE, 1, 2, 3, 4),
        f"{H} 01000000 02000000 03000000 04000000",
        (),
    ),
    ("qmcomm.3.request", qmcomm.QMCloseRemoteQueueContext(HANDLE), H, ()),
    ("qmcomm.3.response", qmcomm.QMCloseRemoteQueueContext(CONTEXT_HANDLE_NULL), NULL, ()),
    (
        "qmcomm.4.request",
        qmcomm.QMCreateRemoteCursorRequest(
            CACTransferBufferV1(u_transfer_type=2, arm=CreateCursor(1, 2, 3), pul_version=7), 9
        ),
        "02000000 02000000 01000000 02000000 03000000"
        + "00" * 52 * 4
        + "00000200 07000000 09000000",
        (),
    ),
    ("qmcomm.4.response", qmcomm.QMCreateRemoteCursorResponse(1, 2), "01000000 02000000", ()),
    ("qmcomm.31.request", qmcomm.QMGetRTQMServerPortRequest(9), "09000000", ()),
    ("qmcomm.31.response", ResultResponse(2103), "37080000", ()),
    (
        "epm.2.request",
        epm.EptLookupRequest(3, GUID, mgmt.RpcIfId(GUID, 1, 2), 4, CONTEXT_HANDLE_NULL, 500),
        f"03000000 00000200 {G} 04000200 {G} 01000200 04000000 {NULL} f4010000",
        (),
    ),
    (
        "epm.2.response",
        epm.EptLookupResponse(
            HANDLE,
            (
                epm.EptEntry(GUID, epm.Twr(b"abcde"), "q"),
                epm.EptEntry(GUID, None, ""),
            ),
            500,
            0,
        ),
        (
            f"{H} 02000000 f4010000 00000000 02000000"
            f"{G} 00000400 00000000 02000000 7100 0000 {G} 00000000 00000000 01000000 00 000000"
            "05000000 05000000 6162636465 000000 00000000"
        ),
        (),
    ),
    (
        "epm.3.request",
        epm.EptMapRequest(GUID, epm.Twr(b"ab"), CONTEXT_HANDLE_NULL, 1),
        f"00000200 {G} 04000200 02000000 02000000 6162 0000 {NULL} 01000000",
        (),
    ),
    (
        "epm.3.response",
        epm.EptMapResponse(HANDLE, (epm.Twr(b"a"), epm.Twr(b"b")), 4, 0),
        (
            f"{H} 02000000 04000000 00000000 02000000 00000400 04000400"
            "01000000 01000000 61 000000 01000000 01000000 62 000000 00000000"
        ),
        (),
    ),
    ("epm.4.request", epm.EptLookupHandleFreeRequest(HANDLE), H, ()),
    (
        "epm.4.response",
        epm.EptLookupHandleFreeResponse(CONTEXT_HANDLE_NULL, 0),
        f"{NULL} 00000000",
        (),
    ),
    ("mgmt.0.request", NoParameters(), "", ()),
    (
        "mgmt.0.response",
        mgmt.InqIfIdsResponse(mgmt.RpcIfIdVector((mgmt.RpcIfId(GUID, 1, 0), None)), 0),
        f"00000200 02000000 02000000 04000200 00000000 {G} 01000000 00000000",
        (),
    ),
    ("mgmt.1.request", mgmt.InqStatsRequest(50), "32000000", ()),
    (
        "mgmt.1.response",
        mgmt.InqStatsResponse((5, 6), 0),
        "02000000 02000000 05000000 06000000 00000000",
        (),
    ),
    ("mgmt.2.request", NoParameters(), "", ()),
    ("mgmt.2.response", mgmt.IsServerListeningResponse(0, 1), "00000000 01000000", ()),
    ("mgmt.3.request", NoParameters(), "", ()),
    ("mgmt.3.response", ResultResponse(5), "05000000", ()),
    ("mgmt.4.request", mgmt.InqPrincNameRequest(10, 4096), "0a000000 00100000", ()),
    (
        "mgmt.4.response",
        mgmt.InqPrincNameResponse("host", 64, 0),
        "40000000 00000000 05000000 686f737400 000000 00000000",
        (),
    ),
]


def layout(name: str) -> bytes:
    """The octets of a stub."""
    (octets,) = [octets for stub, _, octets, _ in LAYOUTS if stub == name]
    return bytes.fromhex(octets)
