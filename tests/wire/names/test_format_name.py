"""[MS-MQMQ] 2.1: format names of every kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.name_strategies import format_names

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.format_name import (
    ConnectorFormatName,
    DistributionListFormatName,
    FormatName,
    MachineFormatName,
    MulticastFormatName,
    MultipleElementFormatName,
    PrivateFormatName,
    PublicFormatName,
    is_format_name,
    parse_format_name,
)
from openmsmq.wire.names.queue_name import Suffix

GUID = "1A2B3C4D-0000-1111-2222-1234567890AB"


def outcome(text: str) -> FormatName | int:
    try:
        return parse_format_name(text)
    except QueueError as error:
        return error.code


@given(format_names)
def test_parse_reverses_print(name: FormatName) -> None:
    parsed = parse_format_name(str(name))
    assert parsed == name
    assert str(parsed) == str(name)
    assert is_format_name(str(name))


@given(format_names)
def test_case_does_not_matter_to_ascii_names(name: FormatName) -> None:
    if str(name).isascii():
        upper = parse_format_name(str(name).upper())
        assert upper == name
        assert upper.key == name.key
        assert hash(upper) == hash(name)


@given(st.text(max_size=60) | st.builds("DIRECT=OS:{}".format, st.text(max_size=60)))
def test_any_other_text_is_an_illegal_format_name(text: str) -> None:
    result = outcome(text)
    assert result == Hresult.MQ_ERROR_ILLEGAL_FORMATNAME or outcome(str(result)) == result


@pytest.mark.parametrize(
    ("text", "kind", "printed"),
    [
        (f"public={GUID.lower()}", PublicFormatName, f"PUBLIC={GUID}"),
        (f"PUBLIC={GUID};journal", PublicFormatName, f"PUBLIC={GUID};JOURNAL"),
        (f"Private={GUID}\\0000000f", PrivateFormatName, f"PRIVATE={GUID}\\F"),
        (
            f"PRIVATE={GUID}\\ABCDEF01;JOURNAL",
            PrivateFormatName,
            f"PRIVATE={GUID}\\ABCDEF01;JOURNAL",
        ),
        (f"dl={GUID}", DistributionListFormatName, f"DL={GUID}"),
        (f"DL={GUID}@Example.com", DistributionListFormatName, f"DL={GUID}@Example.com"),
        (f"machine={GUID};journal", MachineFormatName, f"MACHINE={GUID};JOURNAL"),
        (f"MACHINE={GUID};deadletter", MachineFormatName, f"MACHINE={GUID};DEADLETTER"),
        (f"MACHINE={GUID};deadxact", MachineFormatName, f"MACHINE={GUID};DEADXACT"),
        (f"connector={GUID}", ConnectorFormatName, f"CONNECTOR={GUID}"),
        (f"CONNECTOR={GUID};XactOnly", ConnectorFormatName, f"CONNECTOR={GUID};XACTONLY"),
        ("multicast=234.1.1.1:08001", MulticastFormatName, "MULTICAST=234.1.1.1:8001"),
        ("MULTICAST=239.255.255.255:65535", MulticastFormatName, "MULTICAST=239.255.255.255:65535"),
    ],
)
def test_forms_and_canonical_text(text: str, kind: type[FormatName], printed: str) -> None:
    name = parse_format_name(text)
    assert isinstance(name, kind)
    assert str(name) == printed


def test_the_number_of_a_private_queue_is_hexadecimal() -> None:
    name = parse_format_name(f"PRIVATE={GUID}\\1F")
    assert isinstance(name, PrivateFormatName)
    assert (str(name.guid), name.number, name.suffix) == (GUID.lower(), 0x1F, Suffix.NONE)


def test_a_suffix_makes_another_name() -> None:
    assert parse_format_name(f"PUBLIC={GUID}") != parse_format_name(f"PUBLIC={GUID};JOURNAL")


def test_a_multiple_element_name_has_its_elements_in_order() -> None:
    text = f"DIRECT=OS:a\\q , PRIVATE={GUID}\\1,MULTICAST=234.1.1.1:80"
    name = parse_format_name(text)
    assert isinstance(name, MultipleElementFormatName)
    assert [str(element) for element in name.elements] == [
        r"DIRECT=OS:a\q",
        f"PRIVATE={GUID}\\1",
        "MULTICAST=234.1.1.1:80",
    ]
    assert str(name) == text.replace(" , ", ",")


def test_a_name_of_many_elements_is_parsed_though_not_cached() -> None:
    text = ",".join([r"DIRECT=OS:host\queue"] * 1000)
    name = parse_format_name(text)
    assert isinstance(name, MultipleElementFormatName)
    assert len(name.elements) == 1000
    assert parse_format_name(text) is not name
    assert parse_format_name(r"DIRECT=OS:host\q") is parse_format_name(r"DIRECT=OS:host\q")


@pytest.mark.parametrize(
    ("text", "character", "reason"),
    [
        ("", 1, "none of PUBLIC, PRIVATE, DIRECT, DL, MACHINE, CONNECTOR, MULTICAST"),
        (r".\private$\q", 1, "none of PUBLIC"),
        ("DIRET=OS:host\\q", 1, "none of PUBLIC"),
        ("PUBLIC=1234", 8, "no GUID of the form"),
        (f"PUBLIC={{{GUID}}}", 8, "no GUID of the form"),
        (f"PUBLIC={GUID};DEADLETTER", 44, "only ;JOURNAL may follow here"),
        (f"PUBLIC={GUID}:JOURNAL", 44, "only ;JOURNAL may follow here"),
        (f"PRIVATE={GUID}", 45, "no backslash and queue number"),
        (f"PRIVATE={GUID}\\xyz", 45, "no backslash and queue number"),
        (f"PRIVATE={GUID}\\123456789", 54, "only ;JOURNAL may follow here"),
        (f"DL={GUID}@", 40, "not @ and a domain"),
        (f"DL={GUID}@" + "d" * 256, 40, "a domain of up to 255 characters"),
        (f"MACHINE={GUID}", 45, "only ;JOURNAL or ;DEADLETTER or ;DEADXACT may follow"),
        (f"MACHINE={GUID};XACTONLY", 45, "only ;JOURNAL or ;DEADLETTER or ;DEADXACT may follow"),
        (f"CONNECTOR={GUID};JOURNAL", 47, "only ;XACTONLY may follow here"),
        ("MULTICAST=234.1.1.1", 11, "no multicast address and port"),
        ("MULTICAST=234.1.1.256:1", 11, "234.1.1.256 is not an IPv4 address"),
        ("MULTICAST=192.168.1.1:1", 11, "192.168.1.1 is not in 224.0.0.0 to 239.255.255.255"),
        ("MULTICAST=234.1.1.1:65536", 21, "port 65536 is not in 0..65535"),
        (r"DIRECT=OS:a\q,", 15, "none of PUBLIC"),
        (r"DIRECT=OS:a\q,DIRECT=OS:b\q;JOURNAL", 15, "only read cannot be an element"),
        (rf"DIRECT=OS:a\q,PUBLIC={GUID};JOURNAL", 15, "only read cannot be an element"),
        (rf"DIRECT=OS:a\q, MACHINE={GUID};JOURNAL", 16, "only read cannot be an element"),
        (r"DIRECT=OS:a\q,DIRECT=OS:b", 26, "no queue name after the computer"),
    ],
)
def test_a_fault_says_what_and_where(text: str, character: int, reason: str) -> None:
    with pytest.raises(QueueError, match=reason) as caught:
        parse_format_name(text)
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_FORMATNAME
    assert f"at character {character} of" in str(caught.value)
