"""[MC-MQSRM] 2.2.2: the parts of a request, found by their lengths; and requests that are none."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.srmp.xml import GUID

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.srmp import Content, Request, cut_request, write_multipart
from openmsmq.wire.srmp.request import MAX_PARTS

ENVELOPE = b"<envelope/>"
BODY = b"the body"
TYPE = 'multipart/related; boundary="b"; type=text/xml'
HEAD = b"POST / HTTP/1.1\r\n\r\n"


def part(content: bytes, *headers: str, length: str | None = None) -> bytes:
    size = str(len(content)) if length is None else length
    lines = [*headers, f"Content-Length: {size}"]
    return b"--b\r\n" + "\r\n".join(lines).encode() + b"\r\n\r\n" + content


XML_PART = part(ENVELOPE, "Content-Type: text/xml; charset=UTF-8")
BODY_PART = part(BODY, "Content-Type: application/octet-stream", f"Content-Id: body@{GUID}")
EXTENSION_PART = part(b"more", f"Content-Id: extension@{GUID}")
END = b"--b--\r\n"


def cut(*parts: bytes) -> Request:
    return cut_request(TYPE, b"".join(parts), head=HEAD)


def refused(content: bytes, content_type: str = TYPE) -> MalformedPacket:
    with pytest.raises(MalformedPacket) as caught:
        cut_request(content_type, content)
    assert len(str(caught.value)) < 300
    return caught.value


@pytest.mark.spec("MQSRM-2.2.2-07", "MQSRM-4.1-01")
def test_parts_are_cut_by_their_lengths() -> None:
    request = cut(XML_PART, BODY_PART, END)
    assert (request.envelope, request.body, request.extension) == (ENVELOPE, BODY, b"")
    assert request.compound_message == HEAD + XML_PART + BODY_PART + END
    assert request.compound_message[request.content_offset :] == XML_PART + BODY_PART + END


@pytest.mark.spec("MQSRM-2.2.2-10")
def test_extension_part() -> None:
    request = cut(XML_PART, BODY_PART, EXTENSION_PART, END)
    assert (request.body, request.extension) == (BODY, b"more")
    request = cut(XML_PART, EXTENSION_PART, BODY_PART, END)
    assert (request.body, request.extension) == (BODY, b"more")


@given(st.binary(max_size=60), st.binary(max_size=9), st.integers(0, 99999))
@pytest.mark.spec("MQSRM-2.2.2-06")
def test_cutting_reverses_writing(body: bytes, extension: bytes, number: int) -> None:
    content = write_multipart(ENVELOPE, body, sender=UUID(GUID), number=number, extension=extension)
    request = cut_request(content.content_type, content.data)
    assert (request.envelope, request.body, request.extension) == (ENVELOPE, body, extension)


def test_a_body_full_of_delimiters_is_only_a_body() -> None:
    body = b"--b\r\n\r\n--b--\r\n" * 1000
    request = cut(XML_PART, part(body, "Content-Id: body@x"), END)
    assert request.body == body


@pytest.mark.parametrize("content_type", ["text/xml", "Text/XML; charset=utf-8", "text/xml;"])
def test_an_envelope_may_stand_alone(content_type: str) -> None:
    request = cut_request(content_type, ENVELOPE, head=HEAD)
    assert (request.envelope, request.body) == (ENVELOPE, b"")
    assert request.compound_message == HEAD + ENVELOPE


@pytest.mark.parametrize("end", [b"--b--", b"--b--\r\n"])
@pytest.mark.spec("MQSRM-4.1-02")
def test_a_line_end_may_follow_the_closing_delimiter(end: bytes) -> None:
    assert cut(XML_PART, BODY_PART, end).body == BODY


def test_line_ends_before_delimiters_are_those_of_mime() -> None:
    assert cut(b"\r\n", XML_PART, b"\r\n", BODY_PART, b"\r\n", END).body == BODY


def test_a_part_without_an_identifier_is_the_body() -> None:
    assert cut(XML_PART, part(BODY), END).body == BODY
    assert cut(XML_PART, part(BODY, "Content-ID: <Body@x>"), END).body == BODY


def test_attachments_are_in_the_compound_message_only() -> None:
    attachment = part(b"a picture", "Content-Id: picture@x")
    request = cut(XML_PART, attachment, attachment, BODY_PART, attachment, END)
    assert request.body == BODY


def test_a_request_may_have_no_body() -> None:
    assert cut(XML_PART, END).body == b""


@pytest.mark.parametrize(
    "length",
    ["10", "12", "-1", "0", "4294967296", "99999999999", "many", "", "1 1", "+11", "0xB", "\u0661"],
)
@pytest.mark.parametrize("place", [0, 1])
def test_wrong_lengths(length: str, place: int) -> None:
    eleven = b"<envelope/>"
    headers = [("Content-Type: text/xml",), (f"Content-Id: body@{GUID}",)]
    parts = [part(eleven, *each) for each in headers]
    parts[place] = part(eleven, *headers[place], length=length)
    refused(b"".join((*parts, END)))


def test_missing_lengths() -> None:
    for whole in (XML_PART, BODY_PART):
        content = (XML_PART + BODY_PART + END).replace(
            whole, whole.replace(b"Content-Length", b"Content-Size")
        )
        assert refused(content).field == "Content-Length"


WRONG = {
    "nothing": b"",
    "no parts": END,
    "no end": XML_PART + BODY_PART,
    "a cut end": XML_PART + BODY_PART + b"--b-",
    "text after the end": XML_PART + BODY_PART + END + b"x",
    "text before the first part": b"x" + XML_PART + BODY_PART + END,
    "another boundary": (XML_PART + BODY_PART + END).replace(b"--b", b"--c"),
    "a longer boundary": (XML_PART + BODY_PART + END).replace(b"--b", b"--bb"),
    "the body first": BODY_PART + XML_PART + END,
    "two bodies": XML_PART + BODY_PART + BODY_PART + END,
    "two extensions": XML_PART + EXTENSION_PART + EXTENSION_PART + END,
    "an envelope in UTF-16": XML_PART.replace(b"UTF-8", b"UTF-16") + BODY_PART + END,
    "an envelope without a type": XML_PART.replace(b"Type", b"Tape") + BODY_PART + END,
    "headers without an end": b"--b\r\nContent-Length: 1" + b"x" * 10_000,
    "headers without a line end": XML_PART.replace(b"--b\r\n", b"--b") + BODY_PART + END,
    "a header without a colon": XML_PART.replace(b"Length:", b"Length") + BODY_PART + END,
    "a line without a colon": part(ENVELOPE, "Content-Type: text/xml; charset=UTF-8", "x") + END,
    "a header that is there twice": part(ENVELOPE, "Content-Length: 11") + END,
    "a name that is there twice": part(
        ENVELOPE, "X: 1", "Content-Type: text/xml; charset=UTF-8", "X: 1"
    )
    + END,
    "too many parts": XML_PART + part(b"", "Content-Id: x") * MAX_PARTS + END,
    "line feeds only": (XML_PART + BODY_PART + END).replace(b"\r\n", b"\n"),
}


@pytest.mark.parametrize("content", WRONG.values(), ids=WRONG.keys())
def test_wrong_multipart_messages(content: bytes) -> None:
    refused(content)


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "application/json",
        "multipart/mixed; boundary=b",
        "multipart/related",
        "multipart/related; boundary=",
        'multipart/related; boundary=""',
        f'multipart/related; boundary="{"b" * 300}"',
        'multipart/related; boundary="\u00e4"',
        'multipart/related; boundary="b',
        "multipart/related; boundary=b; boundary=c",
        "multipart/related; boundary",
        f"multipart/related; boundary=b; type={'x' * 2000}",
        "text/xml; charset=utf-16",
        "text/xml; =",
    ],
)
def test_wrong_content_types(content_type: str) -> None:
    assert refused(XML_PART + BODY_PART + END, content_type).field == "Content-Type"


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/related; boundary=b",
        "Multipart/Related ;Type=text/xml ; Boundary=b ; ",
        'multipart/related; boundary="\\b"; type="text/xml"; start="<a@b>"',
    ],
)
def test_other_forms_of_the_content_type(content_type: str) -> None:
    assert cut_request(content_type, XML_PART + BODY_PART + END).body == BODY


@given(st.data())
def test_damaged_requests_are_cut_or_malformed(data: st.DataObject) -> None:
    content = XML_PART + BODY_PART + EXTENSION_PART + END
    at = data.draw(st.integers(0, len(content)))
    damaged = content[:at] + data.draw(st.binary(max_size=4)) + content[at + 2 :]
    try:
        request = cut_request(TYPE, damaged)
    except MalformedPacket:
        return
    assert isinstance(request, Request)


def test_content_is_a_type_and_bytes() -> None:
    content = write_multipart(ENVELOPE, BODY, sender=UUID(GUID), number=7)
    boundary = 'multipart/related; boundary="MSMQ - SOAP boundary, 7"; type=text/xml'
    assert content == Content(boundary, content.data)
