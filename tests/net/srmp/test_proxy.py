"""Requests through a proxy, plain and in tunnels."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.net.certificate import Authority
from tests.net.srmp.serving import HOST, Serving, run
from tests.net.srmp.test_https import client_context, server_context
from tests.service.loops import until

from openmsmq.protocol.http import HttpSettings, Proxy
from openmsmq.wire.codes.queue_enums import ConnectionStatus


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()


class ProxyServer:
    """Answers CONNECT as a test says, and then copies bytes."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n") -> None:
        self.answer = answer
        self.heads: list[bytes] = []
        self._server: asyncio.Server

    async def listen(self) -> int:
        self._server = await asyncio.start_server(self._serve, HOST, 0)
        return int(self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        method, target, _ = head.split(b" ", 2)
        if method != b"CONNECT" or not self.answer.startswith(b"HTTP/1.1 200"):
            writer.write(self.answer)
            writer.close()
            return
        host, _, port = target.decode().rpartition(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        writer.write(self.answer)
        await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))


def drive(
    test: Callable[[Serving, Serving, ProxyServer], Awaitable[None]],
    proxy: ProxyServer,
    client_tls: ssl.SSLContext | None = None,
) -> None:
    async def main() -> None:
        port = await proxy.listen()
        settings = HttpSettings(proxy=Proxy(HOST, port, ("127.0.0.9",)))
        a, b = Serving(settings, client_tls=client_tls), Serving()
        await test(a, b, proxy)
        await a.close()
        await b.close()
        proxy.close()

    run(main)


def test_a_proxy_is_given_the_whole_url() -> None:
    async def test(a: Serving, _: Serving, proxy: ProxyServer) -> None:
        a.post(a.open("shop.example.com", 8080), b"x")
        await until(lambda: a.user.answers == [(b"x", 202)])
        assert proxy.heads[0].startswith(b"POST http://shop.example.com:8080/msmq/q HTTP/1.1\r\n")

    drive(test, ProxyServer(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"))


def test_https_goes_through_a_tunnel(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    async def test(a: Serving, b: Serving, proxy: ProxyServer) -> None:
        port = await b.listen(server_context(authority))
        a.post(a.open(HOST, port, secure=True), b"x")
        await until(lambda: a.user.answers == [(b"x", 200)])
        assert proxy.heads == [
            b"CONNECT %b:%d HTTP/1.1\r\nHost: %b:%d\r\n\r\n"
            % (HOST.encode(), port, HOST.encode(), port)
        ]
        assert b.user.requests[0].secure
        assert b.user.requests[0].target == b"/msmq/q"

    drive(test, ProxyServer(), client_context(authority))


def test_the_certificate_behind_a_tunnel_is_checked(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    async def test(a: Serving, b: Serving, _: ProxyServer) -> None:
        a.open(HOST, await b.listen(server_context(authority, "127.0.0.9")), secure=True)
        failure = await a.failure()
        assert failure.status is ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE
        assert f"certificate is not valid for '{HOST}'" in failure.reason

    drive(test, ProxyServer(), client_context(authority))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 407 No\r\n\r\n", "the proxy answered CONNECT with 407"),
        (b"", "the proxy closed the connection without an answer to CONNECT"),
        (b"\x15\x03", "the proxy's answer to CONNECT is not HTTP"),
    ],
)
def test_a_tunnel_that_is_refused_fails_the_outlet(answer: bytes, reason: str) -> None:
    async def test(a: Serving, _b: Serving, _proxy: ProxyServer) -> None:
        a.open("shop.example.com", 443, secure=True)
        failure = await a.failure()
        assert failure.status is ConnectionStatus.CONNECT_SOCKET_FAILURE
        assert failure.reason.startswith(reason)
        assert failure.reason.endswith(")")

    drive(test, ProxyServer(answer))


def test_hosts_of_the_bypass_list_are_reached_directly() -> None:
    async def test(a: Serving, _: Serving, proxy: ProxyServer) -> None:
        far = Serving(bind="127.0.0.9")
        a.post(a.open("127.0.0.9", await far.listen()), b"x")
        await until(lambda: a.user.answers == [(b"x", 200)])
        assert proxy.heads == []
        await far.close()

    drive(test, ProxyServer())
