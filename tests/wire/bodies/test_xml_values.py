"""XML bodies and the simple values of XmlMessageFormatter."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.bodies.decoded_body import BodyKind
from openmsmq.wire.bodies.xml_values import decode_xml

GUID = UUID("1a2b3c4d-0000-1111-2222-1234567890ab")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40))
def test_a_string_of_xml_message_formatter_has_its_text_as_value(text: str) -> None:
    body = decode_xml(f'<?xml version="1.0"?>\r\n<string>{escape(text)}</string>', "utf-8")
    assert body is not None
    assert (body.kind, body.value, body.note) == (BodyKind.XML, text, "a value of type string")


@pytest.mark.parametrize(
    ("element", "value"),
    [
        ("<string />", ""),
        ("<string></string>\n", ""),
        ("<string xmlns:xsi=\"x\" a = '>'>t</string>", "t"),
        ("<x:string>t</x:string>", "t"),
        ("<string>&#65;&#x42;&amp;&quot;&apos;&gt;</string>", "AB&\"'>"),
        ("<string>&#xD800;&#9999999;&nope;</string>", "&#xD800;&#9999999;&nope;"),
        ("<int>-42</int>", -42),
        ("<unsignedLong> 18446744073709551615 </unsignedLong>", 18446744073709551615),
        ("<boolean>true</boolean>", True),
        ("<boolean>0</boolean>", False),
        ("<double>1.5</double>", 1.5),
        ("<decimal>12.50</decimal>", Decimal("12.50")),
        ("<dateTime>2024-05-06T12:30:00Z</dateTime>", datetime(2024, 5, 6, 12, 30, tzinfo=UTC)),
        (f"<guid>{GUID}</guid>", GUID),
        ("<base64Binary>AAEC\n/w==</base64Binary>", b"\x00\x01\x02\xff"),
        ("<!-- a --><?pi?> <int>1</int >", 1),
    ],
)
def test_simple_values(element: str, value: object) -> None:
    body = decode_xml(element, "utf-8")
    assert body is not None
    assert body.value == value
    assert body.text == element


@pytest.mark.parametrize(
    ("element", "root"),
    [
        ("<order><id>1</id></order>", "order"),
        ("<order>1</order>", "order"),
        ("<int>one</int>", "int"),
        ("<int>" + "1" * 65 + "</int>", "int"),
        ("<boolean>maybe</boolean>", "boolean"),
        ("<decimal>x</decimal>", "decimal"),
        ("<guid>x</guid>", "guid"),
        ("<base64Binary>!</base64Binary>", "base64Binary"),
        ("<int>1</int><int>2</int>", "int"),
        ("<int>1", "int"),
        ("<int>1</integer>", "int"),
        ("<int " + "a='1' " * 2000 + ">1</int>", "int"),
        ("<int a=1>1</int>", "int"),
        ("<se:Envelope xmlns:se='x'><b/></se:Envelope>", "se:Envelope"),
    ],
)
def test_other_documents_have_a_root_and_no_value(element: str, root: str) -> None:
    body = decode_xml(element, "utf-8")
    assert body is not None
    assert body.value is None
    assert body.note == f"root element {root}"


@pytest.mark.parametrize(
    "text",
    [
        "<",
        "< a>",
        "<1>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
        "<!-- open",
        "<!---->" * 17 + "<a/>",
        "<a",
        "plain",
        "",
    ],
)
def test_what_has_no_root_element_is_no_xml(text: str) -> None:
    assert decode_xml(text, "utf-8") is None
