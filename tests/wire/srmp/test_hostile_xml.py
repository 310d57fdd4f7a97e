"""XML that is made to cost memory or time, and XML that is none."""

import pytest
from tests.wire.srmp.xml import GUID, MSMQ, PATH, PROPERTIES, envelope_text

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.srmp import read_envelope
from openmsmq.wire.srmp.document import (
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_ENVELOPE_SIZE,
)

TEXT = envelope_text(PATH, PROPERTIES, MSMQ)
RAW = TEXT.encode()
LAUGHS = "".join([f'<!ENTITY l{level} "' + f"&l{level - 1};" * 10 + '">' for level in range(1, 10)])
ATTRIBUTES = " ".join([f"a{number}='x'" for number in range(100_000)])
MORE = " ".join([f"b{number}='x'" for number in range(MAX_ATTRIBUTES)])
NAMESPACES = " ".join([f"xmlns:a{number}='x'" for number in range(60_000)])
HOSTILE = {
    "dtd": f"<!DOCTYPE e>{TEXT}",
    "billion laughs": f'<!DOCTYPE e [<!ENTITY l0 "ha">{LAUGHS}]>{TEXT}',
    "quadratic entity": f'<!DOCTYPE e [<!ENTITY a "{"a" * 50_000}">]>{TEXT}',
    "external entity": f'<!DOCTYPE e [<!ENTITY a SYSTEM "file:///etc/passwd">]>{TEXT}',
    "external subset": f'<!DOCTYPE e SYSTEM "http://host/e.dtd">{TEXT}',
    "undefined entity": TEXT.replace("MSMQ:a", "MSMQ:&a;"),
    "levels": TEXT.replace("<path", f"{'<x>' * 100_000}<path"),
    "levels in the body": TEXT.replace("<se:Body>", f"<se:Body>{'<x>' * 100_000}"),
    "entries": TEXT.replace("<path", f"{'<x/>' * 100_000}<path"),
    "elements in the body": TEXT.replace("<se:Body>", f"<se:Body>{'<x/>' * 100_000}"),
    "more attributes than allowed": TEXT.replace("<path", f"<path {MORE}"),
    "attributes": TEXT.replace("<path", f"<path {ATTRIBUTES}"),
    "namespaces": TEXT.replace("<path", f"<path {NAMESPACES}"),
    "megabytes of text": TEXT.replace("MSMQ:a", f"MSMQ:{'a' * 10_000_000}"),
    "megabytes of line ends": TEXT.replace("MSMQ:a", "\n" * 5_000_000),
    "utf-16": TEXT.encode("utf-16"),
    "utf-16 without a mark": TEXT.encode("utf-16-le"),
    "broken utf-8": RAW.replace(b"MSMQ:a", b"MSMQ:\xff"),
    "surrogates": RAW.replace(b"MSMQ:a", b"MSMQ:\xed\xa0\x80"),
    "latin-1": b'<?xml version="1.0" encoding="iso-8859-1"?>' + RAW.replace(b"MSMQ:a", b"\xe4"),
    "NUL": RAW.replace(b"MSMQ:a", b"MSMQ:\0"),
    "NUL as a reference": TEXT.replace("MSMQ:a", "MSMQ:&#0;"),
    "undefined prefix": TEXT.replace("<action>MSMQ:a</action>", "<y:action>a</y:action>"),
    "undefined prefix of an attribute": TEXT.replace("<action>", '<action y:b="1">'),
    "attribute that is there twice": TEXT.replace("<action>", '<action b="1" b="2">'),
    "nothing": "",
    "white space": " \r\n",
    "not XML": "MSMQ",
    "no end": TEXT[:-1],
    "two roots": TEXT * 2,
    "something after the end": f"{TEXT}x",
    "crossed elements": TEXT.replace("</action><to>", "<to></action>"),
    "end of CDATA in text": TEXT.replace("MSMQ:a", "MSMQ:]]>"),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_documents_are_malformed(text: str | bytes) -> None:
    raw = text.encode() if isinstance(text, str) else text
    with pytest.raises(MalformedPacket) as caught:
        read_envelope(raw)
    assert 0 <= caught.value.offset <= len(raw)
    assert len(str(caught.value)) < 300


def test_reading_stops_at_the_declaration() -> None:
    with pytest.raises(MalformedPacket, match="document type declaration") as caught:
        read_envelope(f"<!DOCTYPE e>{TEXT}".encode())
    assert caught.value.offset < 20


def test_what_is_within_the_limits_is_read() -> None:
    attributes = " ".join(f'a{n}=""' for n in range(MAX_ATTRIBUTES - 1))
    entries = f"<x {attributes}>{'<y>' * (MAX_DEPTH - 3)}{'</y>' * (MAX_DEPTH - 3)}</x>"
    many = "<z/>" * (MAX_ELEMENTS - TEXT.count("</") - MAX_DEPTH)
    text = TEXT.replace("<path", f"{entries}{many}<path")
    assert read_envelope(text.encode()) == read_envelope(RAW)
    padding = " " * (MAX_ENVELOPE_SIZE - len(RAW))
    assert read_envelope(RAW + padding.encode()) == read_envelope(RAW)
    with pytest.raises(MalformedPacket, match="more than"):
        read_envelope(RAW + padding.encode() + b" ")


def test_comments_instructions_and_a_byte_order_mark_do_no_harm() -> None:
    text = TEXT.replace("MSMQ:a", "MSMQ:<!-- x --><?y z?><other>b</other>a")
    raw = b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?>' + text.encode()
    assert read_envelope(raw) == read_envelope(RAW)


def test_characters_of_every_plane_are_text() -> None:
    text = TEXT.replace("MSMQ:a", "MSMQ:\u00e4\u20ac\U0001f600&#x1F600;&lt;")
    assert read_envelope(text.encode()).label == "\u00e4\u20ac\U0001f600\U0001f600<"


def test_the_offset_of_a_fault_is_that_of_its_element() -> None:
    with pytest.raises(MalformedPacket) as caught:
        read_envelope(TEXT.replace(f"uuid:7@{GUID}", "7").encode())
    assert caught.value.offset == TEXT.index("<id>")
