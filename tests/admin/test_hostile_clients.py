"""Clients that are slow, many, half open or smuggle: the console refuses them with a reason."""

import contextlib
import json
import re
import socket
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.admin.callers import add_token
from tests.admin.console_process import Watched, wait_until, watched

from openmsmq.admin.connections import Refusals
from openmsmq.server.config import Config
from openmsmq.server.parts.console import ConsolePart
from openmsmq.wire.errors import ConfigError

CONNECTIONS = 12


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("hostile")
    config = folder / "qm.toml"
    config.write_text(
        f"console_connections = {CONNECTIONS}\nconsole_request_seconds = 1\n"
        'console_proxies = ["127.0.0.1"]\n'
    )
    with watched(folder, "--name", "alpha", "--config", str(config)) as running:
        wait_until(lambda: running.get("/healthz").status == 200)
        yield running


@contextlib.contextmanager
def connected(manager: Watched, source: str = "127.0.0.1") -> Iterator[socket.socket]:
    host, _, port = manager.console.rpartition(":")
    with socket.create_connection((host, int(port)), 30, (source, 0)) as connection:
        yield connection


def everything(connection: socket.socket) -> bytes:
    """What comes until the other side ends the connection."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def exchange(manager: Watched, data: bytes, source: str = "127.0.0.1") -> bytes:
    with connected(manager, source) as connection:
        connection.sendall(data)
        return everything(connection)


def request(manager: Watched, line: str, *headers: str) -> bytes:
    lines = (line, f"Host: {manager.console}", "Connection: close", *headers, "", "")
    return "\r\n".join(lines).encode()


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: ",
        b"POST /sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
    ],
)
def test_a_request_that_does_not_come_in_time_is_refused(manager: Watched, data: bytes) -> None:
    began = time.monotonic()
    answer = exchange(manager, data)
    assert status_of(answer) in (408, 421)
    assert b"content-security-policy: default-src 'none'" in answer.lower()
    assert time.monotonic() - began < 20


def test_a_flood_of_what_is_not_http_is_counted_and_logged_once(manager: Watched) -> None:
    def lines() -> int:
        return manager.log.count("refused unread") + manager.log.count("Invalid HTTP")

    def counted() -> int:
        text = manager.get("/metrics?family=console_requests_total").content.decode()
        found = re.search(r'route="\(none\)",status="400"} (\d+)', text)
        return int(found[1]) if found else 0

    logged, before = lines(), counted()
    for _ in range(30):
        assert status_of(exchange(manager, b"\x16\x03\x01 hello\r\n\r\n")) == 400
    assert counted() - before == 30
    upgrade = request(manager, "GET /healthz HTTP/1.1", "Upgrade: websocket")
    for _ in range(5):
        assert status_of(exchange(manager, upgrade.replace(b"close", b"close, upgrade"))) == 200
    assert lines() - logged <= 1
    assert "upgrade" not in manager.log


def test_refusals_are_logged_once_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    counts: list[int] = []
    refusals = Refusals(counts.append)
    for now, status in (
        (5.0, "400 Bad Request"),
        (6.0, "408 Request Timeout"),
        (7.0, "431 y"),
        (65.0, "400 x"),
    ):
        refusals.add(status, "10.0.0.7", now)
    assert counts == [400, 408, 431, 400]
    assert capsys.readouterr().err.splitlines() == [
        "Requests that were refused unread: 400 Bad Request (1); last from 10.0.0.7",
        "Requests that were refused unread: 431 y (1), 400 x (1); last from 10.0.0.7",
    ]


def test_more_connections_than_allowed_are_told_so(manager: Watched) -> None:
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(connected(manager)) for _ in range(CONNECTIONS)]
        for connection in held[:-1]:
            # Each is served, and kept open.
            connection.sendall(request(manager, "GET /healthz HTTP/1.1").replace(b"close", b"x"))
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
        answer = exchange(manager, b"")
        assert status_of(answer) == 503
        assert b"console_connections" in answer
        assert b"x-content-type-options: nosniff" in answer
    wait_until(lambda: manager.get("/healthz").status == 200)


@pytest.mark.parametrize(
    "head",
    [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 5\r\nContent-Length: 6",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Content-Length: -1",
        "Content-Length: 0x10",
        "Bad Header: 1",
    ],
)
def test_requests_that_two_servers_read_differently_are_refused(
    manager: Watched, head: str
) -> None:
    smuggled = "0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
    data = f"POST /sign-in HTTP/1.1\r\nHost: {manager.console}\r\n{head}\r\n\r\n{smuggled}".encode()
    answer = exchange(manager, data)
    assert status_of(answer) in (400, 413, 408)
    assert b"msmq_ready" not in answer


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x02\x00", b"nonsense\r\n\r\n", b"\x00" * 100])
def test_what_is_no_http_is_refused_with_every_header(manager: Watched, data: bytes) -> None:
    answer = exchange(manager, data)
    assert status_of(answer) in (400, 408)
    assert b"content-security-policy" in answer.lower()


@pytest.mark.parametrize(
    "path",
    [
        "/static/../settings.py",
        "/static/%2e%2e/settings.py",
        "/static/..%2fsettings.py",
        "/static//etc/passwd",
        "/static/vendor/../../settings.py",
        "/static/console.css%00",
    ],
)
def test_static_files_are_those_of_the_package_only(manager: Watched, path: str) -> None:
    answer = exchange(manager, request(manager, f"GET {path} HTTP/1.1"))
    assert status_of(answer) == 404


def test_pipelined_requests_are_answered_in_their_order(manager: Watched) -> None:
    first = request(manager, "GET /healthz HTTP/1.1").replace(b"close", b"keep-alive")
    second = request(manager, "GET /static/theme.js HTTP/1.1")
    answer = exchange(manager, first + second)
    assert answer.count(b"HTTP/1.1 200") == 2
    assert answer.index(b"ok\n") < answer.index(b"Before the first paint")


def test_a_request_that_is_too_large_is_refused_before_it_is_read(manager: Watched) -> None:
    head = request(manager, "POST /sign-in HTTP/1.1", f"Content-Length: {1 << 40}")
    assert status_of(exchange(manager, head)) == 413
    chunked = request(manager, "POST /sign-in HTTP/1.1", "Transfer-Encoding: chunked")
    chunk = b"100000\r\n" + bytes(0x100000) + b"\r\n"
    with connected(manager) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(chunked)
            for _ in range(12):
                connection.sendall(chunk)
        answer = everything(connection)
    assert not answer or status_of(answer) in (408, 413)


@pytest.mark.parametrize(
    "headers",
    [
        b"X: " + b"a" * 70_000 + b"\r\n\r\n",
        b"".join(b"X%d: a\r\n" % number for number in range(9_000)) + b"\r\n",
        # It never ends.
        b"X: " + b"a" * 500_000,
    ],
)
def test_headers_that_are_too_long_are_refused(manager: Watched, headers: bytes) -> None:
    answer = exchange(manager, f"GET / HTTP/1.1\r\nHost: {manager.console}\r\n".encode() + headers)
    assert status_of(answer) == 431
    assert b"content-security-policy: " in answer
    assert answer.count(b"HTTP/1.1 ") == 1


def test_long_headers_within_the_limit_are_read(manager: Watched) -> None:
    data = request(manager, "GET /healthz HTTP/1.1", *(f"X{n}: {'a' * 6_000}" for n in range(10)))
    with connected(manager) as connection:
        for at in range(0, len(data), 10_000):
            connection.sendall(data[at : at + 10_000])
        assert status_of(everything(connection)) == 200


def test_guessed_sessions_and_tokens_get_nothing(manager: Watched) -> None:
    for header in ("Cookie: openmsmq=guessed", "Authorization: Bearer omq_guessed"):
        answer = exchange(manager, request(manager, "GET /api/v1/me HTTP/1.1", header))
        assert status_of(answer) == 401


def test_a_link_that_is_only_looked_at_still_works(manager: Watched) -> None:
    link = manager.run("console", "link").out.split()[0]
    path = "/" + link.split("/", 3)[3]
    looked = exchange(manager, request(manager, f"HEAD {path} HTTP/1.1"))
    assert status_of(looked) == 405
    assert b"set-cookie" not in looked
    taken = exchange(manager, request(manager, f"GET {path} HTTP/1.1"))
    assert status_of(taken) == 303
    assert b"set-cookie: openmsmq=" in taken
    assert status_of(exchange(manager, request(manager, f"GET {path} HTTP/1.1"))) == 401


def test_only_a_proxy_of_the_configuration_says_who_asks(manager: Watched) -> None:
    token = add_token(manager, "proxied")
    headers = (
        f"Authorization: Bearer {token}",
        "X-Forwarded-For: 203.0.113.9, 198.51.100.7",
        "X-Forwarded-Proto: https",
    )
    data = request(manager, "GET /api/v1/me HTTP/1.1", *headers)
    through = exchange(manager, data)
    assert json.loads(through.rpartition(b"\r\n\r\n")[2])["address"] == "198.51.100.7"
    assert b"strict-transport-security" in through
    beside = exchange(manager, data, source="127.0.0.9")
    assert json.loads(beside.rpartition(b"\r\n\r\n")[2])["address"] == "127.0.0.9"
    assert b"strict-transport-security" not in beside
    odd = request(manager, "GET /api/v1/me HTTP/1.1", headers[0], "X-Forwarded-For: <script>")
    assert b'"address":"127.0.0.1"' in exchange(manager, odd)


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        # A client's own line comes before that of the proxy.
        (("X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 198.51.100.7"), "198.51.100.7"),
        # A second proxy was asked by the first one.
        (("X-Forwarded-For: 203.0.113.9, 198.51.100.7, 127.0.0.1",), "198.51.100.7"),
        (("X-Forwarded-For: 127.0.0.1",), "127.0.0.1"),
        ((), "127.0.0.1"),
    ],
)
def test_the_address_is_the_one_that_the_first_proxy_was_asked_from(
    manager: Watched, headers: tuple[str, ...], address: str
) -> None:
    bearer = f"Authorization: Bearer {add_token(manager, f'by {address} {len(headers)}')}"
    line, proto = "GET /api/v1/me HTTP/1.1", "X-Forwarded-Proto: https"
    answer = exchange(manager, request(manager, line, bearer, *headers, proto))
    assert json.loads(answer.rpartition(b"\r\n\r\n")[2])["address"] == address
    assert b"strict-transport-security" in answer


def test_a_file_of_tokens_that_is_damaged_lets_nobody_in_and_says_so(manager: Watched) -> None:
    token = add_token(manager, "damaged")
    file = manager.data / "console" / "tokens.json"
    content = file.read_bytes()
    file.write_bytes(content[:-20])
    try:
        headers = ("Authorization: Bearer " + token,)
        for path in ("/api/v1/me", "/queues"):
            answer = exchange(manager, request(manager, f"GET {path} HTTP/1.1", *headers))
            assert status_of(answer) == 503
            assert b"content-security-policy: " in answer
            assert b"The tokens of this console cannot be read." in answer
            assert b"tokens.json" not in answer
    finally:
        file.write_bytes(content)
    assert (
        status_of(exchange(manager, request(manager, "GET /api/v1/me HTTP/1.1", *headers))) == 200
    )


def test_wrong_tokens_are_limited_by_their_address(manager: Watched) -> None:
    line = request(manager, "GET /api/v1/me HTTP/1.1", "Authorization: Bearer omq_guessed")
    line = line.replace(b"Connection: close\r\n", b"")
    with connected(manager, "127.0.0.77") as connection:
        connection.sendall(line * 1500)
        found = b""
        while found.count(b"HTTP/1.1 ") < 1400:
            found += connection.recv(65536)
    assert found.count(b"HTTP/1.1 429") > 100
    assert b"retry-after: 1" in found


def test_the_queue_manager_notices_nothing_of_it(manager: Watched) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(CONNECTIONS):
            stack.enter_context(connected(manager)).sendall(b"GET / HTTP/1.1\r\nHost")
        began = time.monotonic()
        assert manager.run("status", "--json").object["state"] == "Ready"
        assert time.monotonic() - began < 10


def make_certificate(folder: Path, days: float) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 that ends after so many days."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    builder = builder.public_key(key.public_key()).serial_number(1)
    builder = builder.not_valid_before(now - timedelta(days=1))
    builder = builder.not_valid_after(now + timedelta(days=days)).add_extension(names, False)
    certificate = builder.sign(key, hashes.SHA256())
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


def test_under_tls_cookies_are_tied_to_the_host(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path, 10)
    config = tmp_path / "qm.toml"
    config.write_text(f'console_certificate = "{certificate}"\nconsole_key = "{key}"\n')
    with watched(tmp_path, "--name", "alpha", "--config", str(config)) as manager:
        context = ssl.create_default_context(cafile=str(certificate))

        def over_tls(data: bytes) -> bytes:
            with (
                connected(manager) as plain,
                context.wrap_socket(plain, server_hostname="localhost") as connection,
            ):
                connection.sendall(data.replace(b"127.0.0.1", b"localhost"))
                return everything(connection)

        wait_until((manager.data / "console" / "link.sock").exists)
        link = manager.run("console", "link").out.strip()
        assert link.startswith("https://")
        path = "/" + link.split("/", 3)[3]
        answer = over_tls(request(manager, f"GET {path} HTTP/1.1"))
        assert status_of(answer) == 303
        text = answer.decode().lower()
        cookie = text.partition("set-cookie: ")[2].partition("\r\n")[0]
        assert cookie.startswith("__host-openmsmq=")
        assert {"secure", "httponly", "samesite=strict", "path=/"} <= set(cookie.split("; "))
        assert "strict-transport-security: max-age=31536000" in text
        value = answer.decode().partition("et-cookie: ")[2].partition(";")[0]
        overview = request(manager, "GET / HTTP/1.1", f"Cookie: {value}")
        # Certificates are read beside the first pages.
        wait_until(lambda: b"The certificate of console_certificate ends in" in over_tls(overview))


@pytest.mark.parametrize(
    ("values", "refused"),
    [
        ({}, True),
        ({"console_proxies": ("192.0.2.9",)}, False),
        ({"console_certificate": "/c.pem", "console_key": "/k.pem"}, False),
        ({"console_certificate": "/c.pem"}, True),
    ],
)
def test_a_console_elsewhere_needs_a_certificate_or_a_proxy(
    values: dict[str, object], *, refused: bool
) -> None:
    everywhere = {"console_bind": "0.0.0.0", "console_port": 0}  # noqa: S104 - nothing listens
    config = Config.load(None, {**everywhere, **values})
    if not refused:
        ConsolePart.check(config)
        return
    with pytest.raises(ConfigError):
        ConsolePart.check(config)
