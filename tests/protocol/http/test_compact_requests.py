"""Requests in the form of Windows are read by a short way, which gives the same as the long one."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openmsmq.protocol.http import HttpRequest, HttpSettings
from openmsmq.protocol.http.compact_requests import CompactRequests
from openmsmq.protocol.http.request_reader import Refusal, RequestReader

WINDOWS = (
    b"POST /msmq/private$/simpleq HTTP/1.1\r\nHost: machine2\r\n"
    b'Content-Type: multipart/related; boundary="MSMQ - SOAP boundary, 53287"; type=text/xml\r\n'
    b'Content-Length: 5\r\nSOAPAction: "MSMQMessage"\r\n'
    b"Proxy-Accept: NonInteractiveClient\r\n\r\nhello"
)
SETTINGS = HttpSettings(max_body_bytes=50)


class LongWay(CompactRequests):
    """Takes no request."""

    def read(self, data: bytes, requests: list[HttpRequest | int]) -> bytes:  # noqa: ARG002 - takes none
        return data


def outcome(pieces: list[bytes], *, short: bool) -> tuple[list[object], int]:
    """What a reader makes of bytes: its requests, and the status of a refusal."""
    reader = RequestReader(SETTINGS)
    if not short:
        reader._compact = LongWay(SETTINGS)
    status = 0
    for piece in pieces:
        try:
            reader.feed(piece)
        except Refusal as refusal:
            status = refusal.status
            break
        if reader.finished:
            break
    entries: list[object] = [
        entry
        if isinstance(entry, int)
        else (entry.target, entry.content_type, entry.body, entry.head)
        for entry in reader.entries
    ]
    return entries, status


def test_the_form_of_windows_takes_the_short_way() -> None:
    requests: list[HttpRequest | int] = []
    assert CompactRequests(SETTINGS).read(WINDOWS * 3, requests) == b""
    assert len(requests) == 3
    request = requests[0]
    assert isinstance(request, HttpRequest)
    assert request.target == b"/msmq/private$/simpleq"
    assert request.content_type.endswith(b"; type=text/xml")
    assert (request.body, request.head + request.body) == (b"hello", WINDOWS)


@pytest.mark.parametrize(
    ("old", "new", "length"),
    [
        (b"hello", b"hello", 5),
        (b"53287", b"99999", 5),
        (b"Length: 5", b"Length: 9", 9),
        (b"53287", b"5328x", -1),
        (b"53287", b"532870", -1),
        (b"Length: 5", b"Length: x", -1),
        (b"simpleq", b"anotheq", -1),
        (b"type=text", b"type=test", -1),
        (b"Proxy", b"Praxy", -1),
    ],
)
def test_only_headers_that_differ_in_digits_are_known_by_the_last_one(
    old: bytes, new: bytes, length: int
) -> None:
    requests = CompactRequests(SETTINGS)
    requests.read(WINDOWS, [])
    assert requests._last is not None
    assert requests._last.length_of(b"before" + WINDOWS.replace(old, new), 6) == length


def test_every_split_gives_the_same() -> None:
    whole = WINDOWS + WINDOWS.replace(b"Length: 5", b"Length: 0").removesuffix(b"hello") + WINDOWS
    expected = outcome([whole], short=False)
    assert len(expected[0]) == 3
    for at in range(1, len(whole)):
        assert outcome([whole[:at], whole[at:]], short=True) == expected, at
    assert outcome([whole[at : at + 1] for at in range(len(whole))], short=True) == expected


@pytest.mark.parametrize(
    "other",
    [
        WINDOWS.replace(b"Host:", b"host:"),
        WINDOWS.replace(b"POST", b"GET"),
        WINDOWS.replace(b"HTTP/1.1", b"HTTP/1.0"),
        WINDOWS.replace(b"Length: 5", b"Length: 51"),
        WINDOWS.replace(b"\r\n", b"\n"),
        WINDOWS.replace(b"Length: 5", b"Length: 5 "),
        WINDOWS.replace(b"machine2", b"m" * 2000),
        b"\r\n" + WINDOWS,
    ],
)
def test_other_forms_take_the_long_way_and_the_next_the_short_one_again(other: bytes) -> None:
    for pieces in ([WINDOWS, other, WINDOWS], [WINDOWS + other[:40], other[40:] + WINDOWS]):
        assert outcome(pieces, short=True) == outcome(pieces, short=False)
    requests: list[HttpRequest | int] = []
    assert CompactRequests(SETTINGS).read(WINDOWS + other, requests) == other
    assert len(requests) == 1


def test_the_short_way_counts_what_it_holds() -> None:
    reader = RequestReader(SETTINGS)
    reader.feed(WINDOWS[:30])
    assert (reader.in_request, reader.in_body, reader.body_bytes) == (True, False, 0)
    reader.feed(WINDOWS[30:-2])
    assert (reader.in_request, reader.in_body, reader.body_bytes) == (True, True, 3)
    reader.feed(WINDOWS[-2:])
    assert (reader.in_request, reader.in_body, reader.body_bytes) == (False, False, 0)


def edits() -> st.SearchStrategy[list[tuple[int, bytes]]]:
    """Places in two requests, and what is written there."""
    places = st.integers(0, 2 * len(WINDOWS))
    return st.lists(st.tuples(places, st.binary(max_size=3)), max_size=4)


@given(edits(), st.lists(st.integers(0, 2 * len(WINDOWS)), max_size=4))
@example([(212, b"7")], [30, 240])
@example([(454, b"\0")], [])
def test_damaged_requests_give_the_same_on_both_ways(
    changes: list[tuple[int, bytes]], cuts: list[int]
) -> None:
    data = bytearray(WINDOWS * 2)
    for place, text in changes:
        data[place : place + len(text)] = text
    whole = bytes(data)
    ends = sorted(cuts)
    pieces = [whole[a:b] for a, b in zip([0, *ends], [*ends, len(whole)], strict=True)]
    assert outcome(pieces, short=True) == outcome(pieces, short=False)


@pytest.mark.parametrize("text", [b"~", b" ", b"+", b"7", b"\r"])
def test_a_changed_byte_in_the_next_header_gives_the_same_on_both_ways(text: bytes) -> None:
    first = WINDOWS.replace(b"Length: 5", b"Length: 15") + b"0123456789"
    for at in range(len(first)):
        whole = first * 2 + first[:at] + text + first[at + 1 :]
        assert outcome([whole], short=True) == outcome([whole], short=False), at
