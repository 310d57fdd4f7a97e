"""[MC-MQSRM] 2.2.1 and the forms of identifiers in 2.2.4.3 and 2.2.5.3.1."""

from collections.abc import Callable
from uuid import UUID

import pytest
from tests.wire.srmp.xml import GUID

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import MessageIdentifier
from openmsmq.wire.srmp import NEVER
from openmsmq.wire.srmp.formats import (
    read_action,
    read_correlation,
    read_date,
    read_destination,
    read_guid,
    read_identifier,
    read_number,
    read_ordinal,
    read_stream_id,
    read_url,
    write_correlation,
    write_date,
    write_identifier,
    write_stream_id,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("19700101T000000", 0),
        ("20070619T210654", 1182287214),
        ("20380119T031407", NEVER),
        ("20991231T235959", 4102444799),
    ],
)
@pytest.mark.spec("MQSRM-2.2.1.2-01")
def test_dates_are_utc_without_separators(text: str, seconds: int) -> None:
    assert read_date(text, "x", 0) == seconds
    assert write_date(seconds) == (text if seconds <= NEVER else "20380119T031407")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2007-06-19T21:06:54",
        "20070619T210654Z",
        "20070619T210654.5",
        "20070619 210654",
        "20070230T000000",
        "20071301T000000",
        "20070101T240000",
        "00000101T000000",
        "\u0662" * 8 + "T000000",
    ],
)
@pytest.mark.spec("MQSRM-2.2.1.2-01")
def test_other_dates_are_malformed(text: str) -> None:
    with pytest.raises(MalformedPacket, match="YYYYMMDDThhmmss"):
        read_date(text, "x", 0)


@pytest.mark.spec("MQSRM-2.2.1.1-01")
def test_guids_have_no_braces() -> None:
    assert read_guid(GUID.upper(), "x", 0) == UUID(GUID)
    for text in ("", f"{{{GUID}}}", GUID.replace("-", ""), GUID[:-1], f"{GUID}0", f"g{GUID[1:]}"):
        with pytest.raises(MalformedPacket, match="is not a GUID"):
            read_guid(text, "x", 0)


@pytest.mark.spec("MQSRM-2.2.1.3-01")
def test_numbers_are_decimal_and_have_a_range() -> None:
    largest = (1 << 64) - 1
    assert read_number("18446744073709551615", largest, "x", 0) == largest
    assert read_number("007", 7, "x", 0) == 7
    for text in ("", "-1", "+1", "0x1", "1.0", "1 2", "1_0", "\u0663", "8", "9" * 21):
        with pytest.raises(MalformedPacket, match="is not a number from 0 to 7"):
            read_number(text, 7, "x", 0)
    with pytest.raises(MalformedPacket):
        read_number(str(largest + 1), largest, "x", 0)


def test_places_in_streams_begin_at_one() -> None:
    assert read_ordinal("1", "x", 0) == 1
    with pytest.raises(MalformedPacket, match="from 1"):
        read_ordinal("0", "x", 0)


@pytest.mark.spec("MQSRM-2.2.4.3-03")
def test_identifiers_are_an_index_and_a_guid() -> None:
    identifier = MessageIdentifier(UUID(GUID), 26626)
    assert read_identifier(f"uuid:26626@{GUID}", "x", 0) == identifier
    assert write_identifier(identifier) == f"uuid:26626@{GUID}"
    wrong = ("", f"26626@{GUID}", f"uuid:@{GUID}", f"uuid:1{GUID}", "uuid:1@", f"uid:1@{GUID}")
    for text in (*wrong, f"uuid:4294967296@{GUID}", f"uuid:-1@{GUID}"):
        with pytest.raises(MalformedPacket, match="uuid:index@guid"):
            read_identifier(text, "x", 0)


@pytest.mark.spec("MQSRM-2.2.5.3.1-01")
def test_stream_identifiers_are_a_guid_and_a_number() -> None:
    text = f"uid:{GUID}\\4839986701558349830"
    assert read_stream_id(text, "x", 0) == (UUID(GUID), 4839986701558349830)
    assert write_stream_id(UUID(GUID), 4839986701558349830) == text
    for wrong in (
        "",
        f"uuid:{GUID}\\1",
        f"uid:{GUID}/1",
        f"uid:{GUID}\\",
        f"uid:{GUID}\\{1 << 64}",
    ):
        with pytest.raises(MalformedPacket, match="uid:guid"):
            read_stream_id(wrong, "x", 0)


@pytest.mark.spec("MQSRM-2.2.6.5-01")
def test_correlation_is_base64() -> None:
    assert read_correlation("AAAAAAAAAAAAAAAAAAAAAAAAAAA=", "x", 0) == bytes(20)
    assert read_correlation("", "x", 0) == bytes(20)
    assert write_correlation(bytes(20)) == "AAAAAAAAAAAAAAAAAAAAAAAAAAA="
    for text in ("A", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAA?=", "\u00e4" * 28, "A" * 40):
        with pytest.raises(MalformedPacket, match="20 bytes in base64"):
            read_correlation(text, "x", 0)


@pytest.mark.parametrize("reader", [read_url, read_destination])
def test_urls_begin_with_http_or_https(reader: Callable[[str, str, int], str]) -> None:
    for text in ("http://host/msmq/q", "HTTPS://host/msmq/q"):
        assert reader(text, "x", 0) == text
    for text in ("", "ftp://host/msmq/q", "DIRECT=http://host", "http:/host", "http"):
        with pytest.raises(MalformedPacket):
            reader(text, "x", 0)


def test_long_texts_are_cut_in_errors() -> None:
    with pytest.raises(MalformedPacket) as caught:
        read_guid("g" * 100_000, "x", 3)
    assert len(str(caught.value)) < 150
    assert (caught.value.field, caught.value.offset) == ("x", 3)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("MSMQ: label ", "MSMQ: label "),
        ("\n  MSMQ:label\n  ", "MSMQ:label"),
        (" Generic label ", " Generic label "),
        ("", ""),
    ],
)
def test_white_space_is_part_of_a_label_unless_the_text_is_indented(text: str, action: str) -> None:
    assert read_action(text) == action


@pytest.mark.parametrize(("size", "shown"), [(60, "x" * 60), (61, "x" * 60 + "...")])
def test_a_long_text_is_shown_in_part(size: int, shown: str) -> None:
    with pytest.raises(MalformedPacket, match=f"'{shown}' is not a number"):
        read_number("x" * size, 1, "priority", 0)
