"""Propagation_Token ([MS-DTCO] 2.2.5.1-4), and the URL of a coordinator in it."""

import contextlib
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl
from openmsmq.wire.transactions.propagation_token import PropagationToken

GUID = UUID("00112233-4455-6677-8899-aabbccddeeff")
CONTACT = UUID("0a0b0c0d-0e0f-1011-1213-141516171819")
# Written by hand from the tables of [MS-DTCO] 2.2.5.
NAME_OBJECT = (
    b"0a0b0c0d-0e0f-1011-1213-141516171819\0\0\0\0"
    + bytes.fromhex("03000000 64cd64cd 01000000")
    + b"QM\0"
)
VERSION_2 = bytes.fromhex("06000000") + "QM\0".encode("utf-16-le")
VERSION_3 = bytes.fromhex("01000000 00000000 18000000") + b"openmsmq://10.0.0.7:99/\0"
HEAD = "01000000 {:02x}000000 33221100554477668899aabbccddeeff 00001000 00000000 {:02x}000000"


def token(version: int, rest: bytes) -> bytes:
    return bytes.fromhex(HEAD.format(version, len(rest))) + b"openmsmq".ljust(40, b"\0") + rest


WHOLE = token(3, NAME_OBJECT + VERSION_2 + VERSION_3)


def test_a_token_of_version_3_is_read_and_built() -> None:
    parsed = PropagationToken.parse(memoryview(WHOLE))
    assert parsed == PropagationToken(GUID, CONTACT, "QM", "openmsmq://10.0.0.7:99/", "openmsmq")
    assert parsed.serialize() == WHOLE


@pytest.mark.parametrize(
    ("version", "rest"), [(1, NAME_OBJECT), (2, NAME_OBJECT + VERSION_2)], ids=["1", "2"]
)
def test_older_versions_have_no_url(version: int, rest: bytes) -> None:
    parsed = PropagationToken.parse(token(version, rest))
    assert (parsed.host_name, parsed.url, parsed.version_max) == ("QM", "", version)
    assert parsed.serialize() == token(version, rest)


def test_a_coordinator_may_have_no_url_and_no_network() -> None:
    parsed = PropagationToken.parse(token(3, NAME_OBJECT + VERSION_2 + bytes(12)))
    assert (parsed.url, parsed.network_enabled) == ("", False)
    assert PropagationToken.parse(parsed.serialize()) == parsed


def test_a_long_description_is_cut_before_its_end_mark() -> None:
    built = PropagationToken(GUID, CONTACT, "QM", description="d" * 50).serialize()
    assert PropagationToken.parse(built).description == "d" * 39


def test_a_long_name_is_cut_to_what_a_netbios_name_may_have() -> None:
    built = PropagationToken(GUID, CONTACT, "a-machine-with-a-long-name").serialize()
    assert PropagationToken.parse(built).host_name == "a-machine-with-"


@pytest.mark.parametrize("size", range(len(WHOLE)))
def test_a_token_that_is_cut_off_is_refused(size: int) -> None:
    with pytest.raises(MalformedPacket):
        PropagationToken.parse(WHOLE[:size])


def changed(at: int, octets: bytes, whole: bytes = WHOLE) -> bytes:
    return whole[:at] + octets + whole[at + len(octets) :]


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (WHOLE + b"\0", "cbSourceTmAddr"),
        (changed(0, b"\2"), "dwVersionMin"),
        (changed(4, b"\4"), "dwVersionMax"),
        (changed(4, b"\0"), "dwVersionMax"),
        (changed(4, b"\1"), "Propagation_Token"),
        (changed(32, b"\1"), "cbSourceTmAddr"),
        (changed(36, b"x" * 40), "szDesc"),
        (changed(76, b"z"), "szGuid"),
        (changed(76, b"1" * 40), "szGuid"),
        (changed(116, b"\0"), "dwcbHostName"),
        (changed(116, b"\x11"), "dwcbHostName"),
        (changed(130, b"x"), "szHostName"),
        (changed(131, b"\0"), "cbHostNameW"),
        (changed(131, b"\x22"), "cbHostNameW"),
        (changed(131, b"\5"), "cbHostNameW"),
        (changed(135, b"\0\0"), "wszHostName"),
        (changed(135, b"\x00\xd8"), "wszHostName"),
        (changed(149, b"\xff"), "szTipTmUrl"),
        (changed(len(WHOLE) - 1, b"x"), "szTipTmUrl"),
    ],
)
def test_what_is_wrong_is_named(raw: bytes, field: str) -> None:
    with pytest.raises(MalformedPacket) as raised:
        PropagationToken.parse(raw)
    assert raised.value.field.rpartition(".")[2] == field


def test_a_url_that_does_not_fit_is_named_with_its_place() -> None:
    with pytest.raises(MalformedPacket, match="needs 255 bytes, 24 remain") as raised:
        PropagationToken.parse(changed(149, b"\xff"))
    assert raised.value.offset == 153


@given(st.binary(max_size=300), st.integers(0, len(WHOLE)))
def test_any_bytes_are_read_or_malformed(octets: bytes, at: int) -> None:
    for raw in (octets, WHOLE[:at] + octets + WHOLE[at + len(octets) :]):
        with contextlib.suppress(MalformedPacket):
            PropagationToken.parse(raw)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("openmsmq://qm-1.example:2103/", "qm-1.example", 2103),
        ("openmsmq://[fe80::1]:65535/", "fe80::1", 65535),
    ],
)
def test_the_url_of_a_coordinator_names_host_and_port(text: str, host: str, port: int) -> None:
    url = CoordinatorUrl.parse(text)
    assert url == (host, port)
    assert str(url) == text


@pytest.mark.parametrize("text", ["", "tip://host:3372/", "http://a/"])
def test_a_url_of_another_kind_is_none(text: str) -> None:
    assert CoordinatorUrl.parse(text) is None


@pytest.mark.parametrize(
    "rest", ["", "a/", "a:0/", "a:65536/", "a:1", "a:1/x", "a b:1/", ":1/", "a\n:1/", "[a:1/"]
)
def test_a_url_without_host_and_port_is_malformed(rest: str) -> None:
    with pytest.raises(MalformedPacket):
        CoordinatorUrl.parse(f"openmsmq://{rest}")
