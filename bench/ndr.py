"""Encoding and decoding R_StartReceive with a 1 KiB packet, beside the NDR classes of impacket.

Reproduce with `python -m bench ndr`; add `--json` for one object per line.

A round trip is what both sides of one call do: encode and decode the request, encode and decode the
response. impacket's classes declare the same parameters; both give the same octets but for
referents and padding. Its objects are made anew for every call, as its own calls do. Every round
runs both in turn; the figures are medians over the rounds.
"""

import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

from impacket.dcerpc.v5.dtypes import DWORD, LPBYTE, ULONG, ULONGLONG, USHORT
from impacket.dcerpc.v5.ndr import (
    NDRCALL,
    NDRPOINTER,
    NDRSTRUCT,
    NDRUniConformantArray,
)

from bench.report import Result
from openmsmq.wire.ndr import NDR
from openmsmq.wire.remote_read.section_buffer import SectionBuffer, SectionType
from openmsmq.wire.rpc_interfaces.remote_read import (
    R_START_RECEIVE,
    StartReceiveRequest,
    StartReceiveResponse,
)

ROUNDS: Final = 15
OURS: Final = 200
THEIRS: Final = 10
LIMIT: Final = 10.0

PACKET: Final = bytes(range(256)) * 4
HANDLE: Final = bytes(4) + bytes(range(1, 17))
REQUEST: Final = StartReceiveRequest(HANDLE, 0, 0, 0, 1000, 7, 0xFFFFFFFF, 0xFFFFFFFF)
RESPONSE: Final = StartReceiveResponse(
    0x5F000000, 9, (SectionBuffer(SectionType.FULL_PACKET, len(PACKET), PACKET),), 0
)


class ContextHandle(NDRSTRUCT):  # type: ignore[misc] # impacket has no types.
    """A context handle, as impacket's own interfaces declare theirs."""

    align = 4
    structure = (("Data", "20s=b''"),)


class Section(NDRSTRUCT):  # type: ignore[misc] # impacket has no types.
    """SectionBuffer."""

    structure = (
        ("SectionBufferType", USHORT),
        ("SectionSizeAlloc", DWORD),
        ("SectionSize", DWORD),
        ("pSectionBuffer", LPBYTE),
    )


class Sections(NDRUniConformantArray):  # type: ignore[misc] # impacket has no types.
    """The array of sections."""

    item = Section


class SectionsPointer(NDRPOINTER):  # type: ignore[misc] # impacket has no types.
    """ppPacketSections."""

    referent = (("Data", Sections),)


class TheirRequest(NDRCALL):  # type: ignore[misc] # impacket has no types.
    """The request of R_StartReceive."""

    opnum = 7
    structure = (
        ("phContext", ContextHandle),
        ("LookupId", ULONGLONG),
        ("hCursor", DWORD),
        ("ulAction", DWORD),
        ("ulTimeout", DWORD),
        ("dwRequestId", DWORD),
        ("dwMaxBodySize", DWORD),
        ("dwMaxCompoundMessageSize", DWORD),
    )


class TheirResponse(NDRCALL):  # type: ignore[misc] # impacket has no types.
    """The response of R_StartReceive."""

    structure = (
        ("pdwArriveTime", DWORD),
        ("pSequenceId", ULONGLONG),
        ("pdwNumberOfSections", DWORD),
        ("ppPacketSections", SectionsPointer),
        ("ErrorCode", ULONG),
    )


def encode_ours() -> tuple[bytes, bytes]:
    return R_START_RECEIVE.request.encode(REQUEST, NDR), R_START_RECEIVE.response.encode(
        RESPONSE, NDR
    )


def decode_ours(request: bytes, response: bytes) -> tuple[object, object]:
    return (
        R_START_RECEIVE.request.decode(request, NDR)[0],
        R_START_RECEIVE.response.decode(memoryview(response), NDR)[0],
    )


def encode_theirs() -> tuple[bytes, bytes]:
    request = TheirRequest()
    request["phContext"] = REQUEST.ph_context
    request["LookupId"] = REQUEST.lookup_id
    request["hCursor"] = REQUEST.h_cursor
    request["ulAction"] = REQUEST.ul_action
    request["ulTimeout"] = REQUEST.ul_timeout
    request["dwRequestId"] = REQUEST.dw_request_id
    request["dwMaxBodySize"] = REQUEST.dw_max_body_size
    request["dwMaxCompoundMessageSize"] = REQUEST.dw_max_compound_message_size
    response = TheirResponse()
    response["pdwArriveTime"] = RESPONSE.pdw_arrive_time
    response["pSequenceId"] = RESPONSE.p_sequence_id
    response["pdwNumberOfSections"] = len(RESPONSE.pp_packet_sections)
    sections = []
    for item in RESPONSE.pp_packet_sections:
        section = Section()
        section["SectionBufferType"] = int(item.section_buffer_type)
        section["SectionSizeAlloc"] = item.section_size_alloc
        section["SectionSize"] = item.section_size
        section["pSectionBuffer"] = bytes(item.section_buffer)
        sections.append(section)
    response["ppPacketSections"] = sections
    response["ErrorCode"] = RESPONSE.result
    return request.getData(), response.getData()


# Any: impacket has no types.
def decode_theirs(request: bytes, response: bytes) -> tuple[Any, Any]:
    return TheirRequest(request), TheirResponse(response)


def check() -> tuple[tuple[bytes, bytes], tuple[bytes, bytes]]:
    """Each reads what the other wrote."""
    ours, theirs = encode_ours(), encode_theirs()
    assert list(map(len, ours)) == list(map(len, theirs))
    assert decode_ours(*theirs) == (REQUEST, RESPONSE)
    request, response = decode_theirs(*ours)
    assert request["dwRequestId"] == REQUEST.dw_request_id
    assert b"".join(response["ppPacketSections"][0]["pSectionBuffer"]) == PACKET
    return ours, theirs


def run() -> list[Result]:
    ours, theirs = check()
    work: dict[str, tuple[int, Callable[[], object]]] = {
        "impacket: R_StartReceive": (THEIRS, lambda: (encode_theirs(), decode_theirs(*theirs))),
        "R_StartReceive": (OURS, lambda: (encode_ours(), decode_ours(*ours))),
    }
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(ROUNDS):
        for name, (number, function) in work.items():
            start = perf_counter()
            for _ in range(number):
                function()
            seconds[name].append((perf_counter() - start) / number)
    median = {name: statistics.median(taken) for name, taken in seconds.items()}
    peer = median["impacket: R_StartReceive"]
    return [
        Result("impacket: R_StartReceive", 1 / peer),
        Result(
            "R_StartReceive",
            1 / median["R_StartReceive"],
            median["R_StartReceive"] / peer,
            1 / LIMIT,
        ),
    ]
