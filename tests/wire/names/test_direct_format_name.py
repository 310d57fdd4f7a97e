"""[MS-MQMQ] 2.1.2: direct format names."""

import pytest
from hypothesis import given
from tests.wire.name_strategies import direct_names

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol, direct_name
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.path_name import PathName
from openmsmq.wire.names.queue_name import QueueName, QueueScope


def parse(text: str) -> DirectFormatName:
    name = parse_format_name(text)
    assert isinstance(name, DirectFormatName)
    return name


@given(direct_names)
def test_the_text_of_a_packet_means_the_same(name: DirectFormatName) -> None:
    assert parse(f"DIRECT={name.direct}") == name


@pytest.mark.parametrize(
    ("text", "protocol", "address", "printed"),
    [
        (r"direct=os:Host\orders", DirectProtocol.OS, "Host", r"DIRECT=OS:Host\orders"),
        (
            r"DIRECT=Tcp:127.0.0.2\PRIVATE$\orders;JOURNAL",
            DirectProtocol.TCP,
            "127.0.0.2",
            r"DIRECT=TCP:127.0.0.2\private$\orders;JOURNAL",
        ),
        (
            r"DIRECT=TCP:FE80:0::1%eth0\q;sub",
            DirectProtocol.TCP,
            "fe80::1%eth0",
            r"DIRECT=TCP:fe80::1%eth0\q;sub",
        ),
        (
            r"DIRECT=IPX:00000012.00a0234f7500\q",
            DirectProtocol.IPX,
            "00000012:00A0234F7500",
            r"DIRECT=IPX:00000012:00A0234F7500\q",
        ),
        (
            r"DIRECT=SPX:00000012:00a0234f7500\PRIVATE$\order_queue$",
            DirectProtocol.SPX,
            "00000012:00A0234F7500",
            r"DIRECT=SPX:00000012:00A0234F7500\private$\order_queue$",
        ),
        (
            r"DIRECT=OS:host\System$;DeadXact",
            DirectProtocol.OS,
            "host",
            r"DIRECT=OS:host\system$;DEADXACT",
        ),
        (
            "DIRECT=http://host/MSMQ/Private$/orders",
            DirectProtocol.HTTP,
            "host",
            "DIRECT=HTTP://host/msmq/private$/orders",
        ),
        (
            r"DIRECT=HTTPS://host:8443/msmq\private$\orders",
            DirectProtocol.HTTPS,
            "host",
            "DIRECT=HTTPS://host:8443/msmq/private$/orders",
        ),
        (
            "DIRECT=HTTP://[::1]:8080/msmq/orders",
            DirectProtocol.HTTP,
            "[::1]",
            "DIRECT=HTTP://[::1]:8080/msmq/orders",
        ),
    ],
)
def test_forms_and_canonical_text(
    text: str, protocol: DirectProtocol, address: str, printed: str
) -> None:
    name = parse(text)
    assert (name.protocol, name.address) == (protocol, address)
    assert str(name) == printed


@pytest.mark.parametrize(
    ("text", "port", "direct"),
    [
        ("DIRECT=HTTP://host/msmq/q", 80, "http://host/msmq/q"),
        ("DIRECT=HTTP://host:80/msmq/q", 80, "http://host/msmq/q"),
        ("DIRECT=HTTPS://host/msmq/q", 443, "https://host/msmq/q"),
        ("DIRECT=HTTPS://host:80/msmq/q", 80, "https://host:80/msmq/q"),
        (r"DIRECT=OS:host\q", 0, r"OS:host\q"),
    ],
)
def test_a_url_has_the_port_of_its_scheme_unless_it_names_one(
    text: str, port: int, direct: str
) -> None:
    name = parse(text)
    assert name.port == port
    assert name.direct == direct


@pytest.mark.parametrize(
    ("text", "queue", "direct", "target"),
    [
        (
            "DIRECT=HTTP://Host/MSMQ/Private$/Orders?Sender=XRntV",
            r"private$\Orders?Sender=XRntV",
            "http://Host/msmq/private$/Orders?Sender=XRntV",
            "/msmq/private$/orders?sender=xrntv",
        ),
        (
            "DIRECT=HTTP://host/msmq/private%24%2Forders",
            r"private$\orders",
            "http://host/msmq/private$/orders",
            "/msmq/private$/orders",
        ),
        (
            "DIRECT=HTTP://host/msmq/caf%C3%A9",
            "caf\u00e9",
            "http://host/msmq/caf\u00e9",
            "/msmq/caf%C3%A9",
        ),
        ("DIRECT=HTTP://host/msmq/50%25", "50%", "http://host/msmq/50%25", "/msmq/50%25"),
        ("DIRECT=HTTP://host/msmq/50%", "50%", "http://host/msmq/50%25", "/msmq/50%25"),
        (
            "DIRECT=HTTP://host/msmq/q?a%2Fb",
            "q?a%2Fb",
            "http://host/msmq/q?a%2Fb",
            "/msmq/q?a%2fb",
        ),
    ],
)
def test_a_url_may_be_percent_encoded_and_have_a_query(
    text: str, queue: str, direct: str, target: str
) -> None:
    name = parse(text)
    assert str(name.queue_name) == queue
    assert name.direct == direct
    assert name.request_target == target
    assert parse(str(name)) == name


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("DIRECT=HTTP://host/msmq/q?", "not a query"),
        ("DIRECT=HTTP://host/msmq/q?a b", "not a query"),
        (f"DIRECT=HTTP://host/msmq/q?{'x' * 1025}", "not a query"),
        ("DIRECT=HTTP://host/msmq/q%FF", "not the percent-encoded name"),
        ("DIRECT=HTTP://host/msmq/q%3F", "has no URL"),
        ("DIRECT=HTTP://host/msmq/q%5Cq", "a queue name may not hold"),
        ("DIRECT=HTTP://host/msmq/private$%2F", "no queue name"),
        ("DIRECT=HTTP://host/msmq/?query", "no queue name"),
    ],
)
def test_a_url_that_names_no_queue_is_refused(text: str, reason: str) -> None:
    with pytest.raises(QueueError, match=reason):
        parse(text)


def test_direct_names_are_equal_without_regard_to_case() -> None:
    lower, upper = parse(r"direct=os:host\private$\q"), parse(r"DIRECT=OS:HOST\PRIVATE$\Q")
    assert lower == upper
    assert hash(lower) == hash(upper)
    assert parse(r"DIRECT=OS:host\q") != parse("DIRECT=HTTP://host/msmq/q")


def test_a_native_direct_name_has_a_path_name_and_a_url_has_none() -> None:
    name = parse(r"DIRECT=TCP:10.0.0.1\private$\orders")
    assert name.path_name == PathName("10.0.0.1", QueueName(QueueScope.PRIVATE, "orders"))
    assert parse("DIRECT=HTTP://host/msmq/q").path_name is None


@pytest.mark.parametrize(
    ("text", "character", "reason"),
    [
        ("DIRECT=", 8, "no OS:, TCP:, IPX:, SPX:"),
        ("DIRECT=FTP:host\\q", 8, "no OS:, TCP:, IPX:, SPX:"),
        ("DIRECT=OS", 8, "no OS:, TCP:, IPX:, SPX:"),
        ("DIRECT=OS:host", 15, "no queue name after the computer"),
        ("DIRECT=OS:\\q", 11, "no computer name"),
        ("DIRECT=OS:host\\", 16, "no queue name"),
        (r"DIRECT=OS:host\private$\q;deadletter", 26, "does not belong to a queue"),
        (r"DIRECT=OS:host\system$;other", 16, "system\\$ of a direct name takes"),
        (r"DIRECT=TCP:host\q", 12, "a computer name goes with OS:"),
        (r"DIRECT=TCP:256.1.1.1\q", 12, "not an IP address"),
        (r"DIRECT=IPX:12:34\q", 12, "not an IPX address"),
        ("DIRECT=HTTP:host/msmq/q", 13, "not of the form //HOST/msmq/NAME"),
        ("DIRECT=HTTP://host/q", 13, "not of the form //HOST/msmq/NAME"),
        ("DIRECT=HTTP:///msmq/q", 15, "no computer name"),
        ("DIRECT=HTTP://ho st/msmq/q", 17, "may not hold ' '"),
        ("DIRECT=HTTP://host:0/msmq/q", 20, "port 0 is not in 1..65535"),
        ("DIRECT=HTTP://host:65536/msmq/q", 20, "port 65536 is not in 1..65535"),
        ("DIRECT=HTTP://host/msmq/", 25, "no queue name"),
        ("DIRECT=HTTP://host/msmq/private$/", 34, "no queue name"),
        ("DIRECT=HTTP://host/msmq/q;journal", 26, "may not hold ';'"),
    ],
)
def test_a_fault_says_what_and_where(text: str, character: int, reason: str) -> None:
    with pytest.raises(QueueError, match=reason) as caught:
        parse_format_name(text)
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_FORMATNAME
    assert f"at character {character} of" in str(caught.value)


def test_the_parts_of_a_path_make_a_direct_name() -> None:
    name = direct_name("host", QueueName(QueueScope.PRIVATE, "orders"))
    assert name == parse_format_name(r"DIRECT=OS:host\private$\orders")
    with pytest.raises(QueueError, match=r"takes ;JOURNAL.* at character 16 of") as caught:
        direct_name("host", QueueName(QueueScope.SYSTEM, "other"))
    assert caught.value.code == Hresult.MQ_ERROR_ILLEGAL_FORMATNAME
