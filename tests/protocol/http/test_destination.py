"""Hosts, proxies and tunnels."""

import pytest
from tests.protocol.http.hosts import Host

from openmsmq.protocol.http import Destination, Proxy, Route
from openmsmq.protocol.http.destination import route_to
from openmsmq.protocol.http.tunnel import Tunnel

PROXY = Proxy("proxy", 3128, ("*.example.org", "10.0.0.7", "<local>"))
PLAIN = Destination("shop.example.com", 80, secure=False)
SECURE = Destination("shop.example.com", 443, secure=True)


@pytest.mark.spec("MQSRM-2.1.1-06")
@pytest.mark.parametrize(
    ("destination", "url"),
    [
        (PLAIN, "http://shop.example.com"),
        (SECURE, "https://shop.example.com"),
        (Destination("example", 8080, secure=False), "http://example:8080"),
        (Destination("example", 80, secure=True), "https://example:80"),
        (Destination("::1", 80, secure=False), "http://[::1]"),
        (Destination("::1", 81, secure=False), "http://[::1]:81"),
    ],
)
def test_a_destination_is_written_without_its_default_port(
    destination: Destination, url: str
) -> None:
    assert str(destination) == url
    assert destination.authority == url.partition("://")[2]


def test_without_a_proxy_the_way_is_direct() -> None:
    assert route_to(SECURE, None) == Route("shop.example.com", 443, b"", "")


def test_a_proxy_gets_the_whole_url() -> None:
    assert route_to(PLAIN, PROXY) == Route("proxy", 3128, b"", "http://shop.example.com")
    host = Host(proxy=PROXY)
    outlet = host.open(PLAIN)
    host.post(outlet, "a")
    start = b"POST http://shop.example.com/msmq/q HTTP/1.1\r\nHost: shop.example.com\r\n"
    assert host.take().startswith(start)
    assert host.connects[0].route.host == "proxy"


def test_a_proxy_is_asked_for_a_tunnel_for_https() -> None:
    route = route_to(SECURE, PROXY)
    assert (route.host, route.port, route.prefix) == ("proxy", 3128, "")
    assert route.tunnel == (
        b"CONNECT shop.example.com:443 HTTP/1.1\r\nHost: shop.example.com:443\r\n\r\n"
    )


def test_a_tunnel_to_an_address_has_brackets() -> None:
    route = route_to(Destination("2001:db8::1", 8443, secure=True), PROXY)
    assert route.tunnel.startswith(b"CONNECT [2001:db8::1]:8443 HTTP/1.1\r\n")


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("www.example.org", False),
        ("example.org", True),
        ("10.0.0.7", False),
        ("10.0.0.70", True),
        ("intranet", False),
        ("::1", True),
        ("shop.example.com", True),
    ],
)
def test_the_bypass_list_names_hosts_that_are_reached_directly(host: str, served: bool) -> None:  # noqa: FBT001 - the expectation
    assert PROXY.serves(host) == served
    assert (route_to(Destination(host, 80, secure=False), PROXY).host == "proxy") == served


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (b"HTTP/1.1 200 Connection established\r\n\r\n", ""),
        (b"HTTP/1.0 204 OK\r\nVia: 1.0 proxy\r\n\r\n", ""),
        (
            b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 3\r\n\r\nno!",
            "the proxy answered CONNECT with 407",
        ),
        (b"HTTP/1.1 302 Found\r\n\r\n", "the proxy answered CONNECT with 302"),
        (b"LIOR", "the proxy's answer to CONNECT is not HTTP: Expected HTTP/, RTSP/ or ICE/"),
    ],
)
def test_any_2xx_opens_the_tunnel(answer: bytes, fault: str) -> None:
    tunnel = Tunnel(1000)
    for byte in answer:
        assert not (tunnel.open and not fault)
        if tunnel.fault:
            break
        tunnel.receive(bytes((byte,)))
    assert (tunnel.open, tunnel.fault) == (not fault, fault)
