"""SOAP header and body of an application."""

import pytest
from tests.wire.srmp.xml import PATH, PROPERTIES

from openmsmq.wire.srmp import check_soap
from openmsmq.wire.srmp.elements import SRMP


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("", ""),
        ("text", "text &amp; more"),
        ('<a xmlns="x" se:mustUnderstand="1"><b/></a><c/>', "<d>\u20ac</d>"),
        ("<path/>", PATH),
    ],
)
def test_xml_is_accepted(header: str, body: str) -> None:
    check_soap(header, body)


@pytest.mark.parametrize(
    ("header", "body", "reason"),
    [
        ("<a>", "", "not XML"),
        ("", "</a>", "not XML"),
        ("a & b", "", "not XML"),
        ("<x:a/>", "", "unbound prefix"),
        ("", "\0", "NUL"),
        ("</se:Header><se:Header>", "", "not XML"),
        ("", "</se:Body><se:Body>", "twice"),
        ("", f"{'<a>' * 100}{'</a>' * 100}", "levels"),
        (PATH, "", "cannot hold <path>"),
        (
            PATH + PROPERTIES.replace("<properties>", f"<properties xmlns='{SRMP}'>"),
            "",
            "cannot hold <path>, <properties>, which",
        ),
        ('<s:durable xmlns:s="y"/><s:services xmlns:s="z"/>', "<", "not XML"),
    ],
)
def test_other_text_is_refused(header: str, body: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_soap(header, body)
