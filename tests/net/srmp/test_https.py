"""HTTPS over real sockets: certificates of both sides, and why one is not accepted."""

import asyncio
import ssl
from datetime import timedelta
from pathlib import Path

import pytest
from tests.net.certificate import Authority
from tests.net.srmp.serving import HOST, Serving, run
from tests.protocol.http.clients import post
from tests.service.loops import until

from openmsmq.protocol.http import OutletFailed
from openmsmq.wire.codes.queue_enums import ConnectionStatus


def server_context(
    authority: Authority, address: str = HOST, *, valid: timedelta = timedelta(days=1)
) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=authority.file)
    context.load_cert_chain(*authority.issue(address, valid=valid))
    return context


def client_context(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=authority.file)


async def failure_of(server: ssl.SSLContext | None, client: ssl.SSLContext) -> OutletFailed:
    """What a client says of a server."""
    a, b = Serving(client_tls=client), Serving()
    outlet = a.open(HOST, await b.listen(server), secure=True)
    a.post(outlet, b"x")
    failure = await a.failure()
    assert failure.unanswered == [b"x"]
    await a.close()
    await b.close()
    assert b.user.requests == []
    return failure


@pytest.mark.spec("MQSRM-2.1.1-03", "MQSRM-5.1-01")
def test_posts_travel_over_https(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    async def main() -> None:
        a, b = Serving(client_tls=client_context(authority)), Serving()
        plain, secure = await b.listen(), await b.listen(server_context(authority))
        for port, is_secure in ((plain, False), (secure, True)):
            a.post(a.open(HOST, port, secure=is_secure), b"x")
        await until(lambda: len(a.user.answers) == 2)
        assert sorted(request.secure for request in b.user.requests) == [False, True]
        await a.close()
        await b.close()

    run(main)


def test_a_certificate_of_an_unknown_authority_is_not_accepted(tmp_path: Path) -> None:
    other = Authority(tmp_path, "other")

    async def main() -> None:
        failure = await failure_of(server_context(Authority(tmp_path)), client_context(other))
        assert failure.status is ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE
        start = f"the certificate of {HOST} was not accepted: "
        assert failure.reason == start + "self-signed certificate in certificate chain"

    run(main)


def test_a_certificate_of_another_host_is_not_accepted(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    async def main() -> None:
        server = server_context(authority, "127.0.0.9")
        failure = await failure_of(server, client_context(authority))
        assert failure.status is ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE
        assert failure.reason == (
            f"the certificate of {HOST} was not accepted: IP address mismatch, "
            f"certificate is not valid for '{HOST}'"
        )

    run(main)


def test_the_host_of_the_url_counts_and_not_its_configured_address(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    async def main() -> None:
        a = Serving(client_tls=client_context(authority), hosts={"beta": HOST})
        b = Serving()
        a.open("beta", await b.listen(server_context(authority)), secure=True)
        failure = await a.failure()
        assert "certificate is not valid for 'beta'" in failure.reason
        await a.close()
        await b.close()

    run(main)


def test_an_expired_certificate_is_not_accepted(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    async def main() -> None:
        server = server_context(authority, valid=timedelta(minutes=-1))
        failure = await failure_of(server, client_context(authority))
        assert failure.reason.endswith("was not accepted: certificate has expired")

    run(main)


def test_a_host_that_does_not_speak_tls_is_named(tmp_path: Path) -> None:
    async def main() -> None:
        failure = await failure_of(None, client_context(Authority(tmp_path)))
        assert failure.status is ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE
        assert failure.reason.startswith(f"TLS with {HOST} failed: ")

    run(main)


def test_a_server_may_require_certificates_of_clients(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    async def main() -> None:
        server = server_context(authority)
        server.verify_mode = ssl.CERT_REQUIRED
        failure = await failure_of(server, client_context(authority))
        assert "closed the connection before its response" in failure.reason
        client = client_context(authority)
        client.load_cert_chain(*authority.issue("127.0.0.5"))
        a, b = Serving(client_tls=client), Serving()
        a.post(a.open(HOST, await b.listen(server), secure=True), b"x")
        await until(lambda: a.user.answers == [(b"x", 200)])
        await a.close()
        await b.close()

    run(main)


def test_plain_http_on_the_port_of_https_is_refused(tmp_path: Path) -> None:
    async def main() -> None:
        serving = Serving()
        port = await serving.listen(server_context(Authority(tmp_path)))
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(post(b"x"))
        assert b"200" not in await reader.read()
        await until(lambda: bool(serving.refused))
        assert serving.refused[0].startswith("TLS was not agreed on: ")
        assert serving.user.requests == []
        writer.close()
        await serving.close()

    run(main)


def test_other_certificates_are_used_for_new_connections(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    async def main() -> None:
        a, b = Serving(client_tls=client_context(authority)), Serving()
        port = await b.listen(server_context(authority, "127.0.0.9"))
        a.open(HOST, port, secure=True)
        await a.failure()
        b.shell.use_tls(server_context(authority), client_context(authority))
        a.post(a.open(HOST, port, secure=True), b"x")
        await until(lambda: a.user.answers == [(b"x", 200)])
        a.shell.use_tls(None, client_context(Authority(tmp_path, "other")))
        a.user.failures.clear()
        a.open(HOST, port, secure=True)
        assert "was not accepted" in (await a.failure()).reason
        await a.close()
        await b.close()

    run(main)
