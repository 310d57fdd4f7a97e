"""Requests over real sockets, plain."""

import asyncio
import shutil
import socket
from pathlib import Path

import pytest
from tests.net.srmp.serving import HOST, Serving, run
from tests.protocol.http.clients import START, chunked, post
from tests.service.loops import until

from openmsmq.protocol.http import CloseReason, HttpSettings
from openmsmq.wire.codes.queue_enums import ConnectionStatus
from openmsmq.wire.errors import ConfigError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


async def talk(port: int, data: bytes) -> bytes:
    """Send bytes, and read to the end of the connection."""
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(data)
    answer = await reader.read()
    writer.close()
    return answer


def test_posts_are_answered_over_tcp() -> None:
    async def main() -> None:
        serving = Serving()
        port = await serving.listen()
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(post(b"one") + chunked(b"tw", b"o"))
        assert await reader.readexactly(2 * len(OK)) == OK * 2
        assert [request.body for request in serving.user.requests] == [b"one", b"two"]
        assert serving.user.batches == [2]
        assert {request.address for request in serving.user.requests} == {HOST}
        writer.close()
        await serving.close()
        assert len(serving.http.server) == 0

    run(main)


def test_an_outlet_posts_to_another_queue_manager() -> None:
    async def main() -> None:
        a, b = Serving(), Serving()
        port = await b.listen()
        outlet = a.open(HOST, port)
        bodies = [b"%d" % number for number in range(50)]
        a.post(outlet, *bodies)
        await until(lambda: len(a.user.answers) == 50)
        assert a.user.answers == [(body, 200) for body in bodies]
        assert [request.body for request in b.user.requests] == bodies
        assert a.user.opened == [outlet]
        # Requests that follow each other arrive together.
        assert len(b.user.batches) < 50
        await a.close()
        await b.close()

    run(main)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_posts_a_large_body(tmp_path: Path) -> None:
    file = tmp_path / "body"
    file.write_bytes(bytes(range(256)) * 8192)

    async def main() -> None:
        serving = Serving()
        port = await serving.listen()
        url = f"http://{HOST}:{port}/msmq/private$/orders"
        for more in ((), ("-H", "Transfer-Encoding: chunked"), ("--http1.0",)):
            process = await asyncio.create_subprocess_exec(
                *("curl", "-sS", "-o", "-", "-w", "%{http_code}", "--max-time", "15"),
                *("--data-binary", f"@{file}", "-H", "Content-Type: text/xml", *more, url),
                stdout=asyncio.subprocess.PIPE,
            )
            output, _ = await process.communicate()
            assert output == b"200"
        assert [request.body for request in serving.user.requests] == [file.read_bytes()] * 3
        await serving.close()

    run(main)


def test_a_refusal_reaches_a_client_that_is_still_sending() -> None:
    async def main() -> None:
        serving = Serving(HttpSettings(linger_seconds=0.5))
        port = await serving.listen()
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(START + b"Content-Length: 10000000000\r\n\r\n")

        async def flood() -> None:
            try:
                while True:
                    writer.write(bytes(65536))
                    await writer.drain()
            except ConnectionError:
                pass

        flooding = asyncio.create_task(flood())
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 413 ")
        await until(lambda: bool(serving.ended))
        assert serving.ended[0].reason is CloseReason.TOO_LARGE
        await flooding
        writer.close()
        await serving.close()

    run(main)


def test_tls_on_the_plain_port_gets_a_400() -> None:
    async def main() -> None:
        serving = Serving(HttpSettings(linger_seconds=0.05))
        port = await serving.listen()
        answer = await talk(port, bytes.fromhex("16030100c8010000c40303") + bytes(200))
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert serving.ended[0].reason is CloseReason.MALFORMED
        await serving.close()

    run(main)


def test_connections_that_only_open_are_closed() -> None:
    async def main() -> None:
        serving = Serving(HttpSettings(header_seconds=0.1))
        port = await serving.listen()
        assert await asyncio.gather(*[talk(port, b"") for _ in range(50)]) == [b""] * 50
        assert {event.reason for event in serving.ended} == {CloseReason.IDLE}
        assert len(serving.http.server) == 0
        await serving.close()

    run(main)


def test_a_slow_request_does_not_hold_up_others() -> None:
    async def main() -> None:
        serving = Serving(HttpSettings(header_seconds=1.5, linger_seconds=0.05))
        port = await serving.listen()
        slow_reader, slow_writer = await asyncio.open_connection(HOST, port)

        async def drip() -> None:
            for byte in post(b"x" * 1000):
                slow_writer.write(bytes((byte,)))
                await asyncio.sleep(0.05)

        dripping = asyncio.create_task(drip())
        reader, writer = await asyncio.open_connection(HOST, port)
        for _ in range(5):
            writer.write(post(b"fast"))
            assert await reader.readexactly(len(OK)) == OK
        assert (await slow_reader.read()).startswith(b"HTTP/1.1 408 ")
        assert serving.ended[0].reason is CloseReason.TOO_SLOW
        dripping.cancel()
        for each in (writer, slow_writer):
            each.close()
        await serving.close()

    run(main)


def test_connections_beyond_the_limit_of_an_address_are_refused() -> None:
    async def main() -> None:
        serving = Serving(HttpSettings(max_connections_per_address=2))
        port = await serving.listen()
        writers = [(await asyncio.open_connection(HOST, port))[1] for _ in range(2)]
        await until(lambda: len(serving.http.server) == 2)
        reader, writer = await asyncio.open_connection(HOST, port)
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await reader.readexactly(1)
        for each in (*writers, writer):
            each.close()
        await serving.close()

    run(main)


def test_reading_pauses_while_too_many_requests_wait() -> None:
    async def main() -> None:
        serving = Serving(HttpSettings(max_unanswered=10))
        serving.user.status = 0
        port = await serving.listen()
        reader, writer = await asyncio.open_connection(HOST, port)
        sent = 3000
        writer.write(post(b"x" * 1000) * sent)
        await until(lambda: len(serving.user.requests) >= 10)
        await asyncio.sleep(0.05)
        # What one read brought is taken, and no more.
        assert len(serving.user.requests) < sent / 2
        serving.user.status = 200
        for request in serving.user.requests:
            serving.http.server.answer(request, 200)
        serving.wake()
        assert await reader.readexactly(sent * len(OK)) == OK * sent
        writer.close()
        await serving.close()

    run(main)


def test_a_client_that_does_not_read_is_cut_off() -> None:
    async def main() -> None:
        serving = Serving(HttpSettings(write_seconds=0.1, max_output_bytes=1000))
        port = await serving.listen()
        with socket.create_connection((HOST, port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            data = b"GET / HTTP/1.1\r\n\r\n" * 1000
            while not serving.ended:
                try:
                    client.send(data)
                except BlockingIOError:
                    pass
                except ConnectionError:
                    break
                await asyncio.sleep(0)
            await until(lambda: bool(serving.ended))
        assert serving.ended[0].reason is CloseReason.NOT_READING
        await serving.close()

    run(main)


def test_a_cut_request_is_forgotten() -> None:
    async def main() -> None:
        serving = Serving()
        port = await serving.listen()
        whole = post(b"x" * 50)
        for at in range(0, len(whole), 7):
            _, writer = await asyncio.open_connection(HOST, port)
            writer.write(whole[:at])
            await writer.drain()
            writer.close()
        await until(lambda: len(serving.ended) == len(range(0, len(whole), 7)))
        assert serving.user.requests == []
        assert len(serving.http.server) == 0
        await serving.close()

    run(main)


# Connections to other hosts


def test_a_host_that_does_not_listen_fails_the_outlet() -> None:
    async def main() -> None:
        with socket.socket() as free:
            free.bind((HOST, 0))
            port = free.getsockname()[1]
        serving = Serving()
        serving.open(HOST, port)
        failure = await serving.failure()
        assert failure.status is ConnectionStatus.CONNECT_SOCKET_FAILURE
        assert failure.reason == f"nothing accepts connections at {HOST}:{port}"
        await serving.close()

    run(main)


@pytest.mark.parametrize("name", ["no-such-host.invalid", "a" * 64, "a..b", "bad" + "\u0301" * 80])
def test_a_name_that_is_not_known_fails_the_outlet(name: str) -> None:
    async def main() -> None:
        serving = Serving()
        serving.open(name, 80)
        failure = await serving.failure()
        assert failure.status is ConnectionStatus.NAME_RESOLUTION_FAILURE
        assert failure.reason == f"the host name {name} could not be resolved"
        await serving.close()

    run(main)


def test_addresses_of_hosts_may_be_configured() -> None:
    async def main() -> None:
        a, b = Serving(hosts={"beta": HOST}), Serving()
        outlet = a.open("beta", await b.listen())
        a.post(outlet, b"x")
        await until(lambda: bool(a.user.answers))
        assert b"\r\nHost: beta:" in b.user.requests[0].head
        await a.close()
        await b.close()

    run(main)


def test_a_host_that_hangs_up_fails_the_outlet() -> None:
    async def main() -> None:
        async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(10)
            writer.close()

        server = await asyncio.start_server(hang_up, HOST, 0)
        serving = Serving()
        outlet = serving.open(HOST, server.sockets[0].getsockname()[1])
        serving.post(outlet, b"x")
        failure = await serving.failure()
        assert failure.unanswered == [b"x"]
        assert failure.reason.endswith("closed the connection before its response")
        server.close()
        await serving.close()

    run(main)


def test_an_outlet_that_is_closed_while_it_connects_leaves_no_connection() -> None:
    async def main() -> None:
        a, b = Serving(), Serving()
        outlet = a.open(HOST, await b.listen())
        await asyncio.sleep(0)
        a.http.client.close(outlet, now=a.tick())
        a.wake()
        await until(lambda: bool(b.ended))
        assert (len(a.http.client), len(b.http.server)) == (0, 0)
        assert a.user.opened == []
        await a.close()
        await b.close()

    run(main)


def test_a_port_that_is_taken_is_named() -> None:
    async def main() -> None:
        serving = Serving()
        port = await serving.listen()
        with pytest.raises(ConfigError, match=f"^http_port: {HOST}:{port}: "):
            await serving.shell.listen(port, key="http_port")
        await serving.close()

    run(main)
