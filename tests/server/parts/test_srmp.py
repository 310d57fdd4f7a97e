"""The part that speaks SRMP: its ports, its certificates, and messages that strangers post."""

import errno
import http.client
import logging
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from tests.interop.loopback import new_address
from tests.net.certificate import Authority
from tests.server.parts.posting import post_message
from tests.server.parts.test_rpc import taken
from tests.server.threaded import Threaded, threaded

import openmsmq
from openmsmq.net.srmp.shell import SrmpShell
from openmsmq.protocol.http import HttpSettings, Proxy
from openmsmq.protocol.srmp.settings import SrmpSettings
from openmsmq.server.config import Config
from openmsmq.server.parts.srmp import SrmpPart, http_settings, tls_contexts
from openmsmq.wire.errors import ConfigError

ORDERS = r".\private$\orders"
OTHERS_OFF: dict[str, Any] = dict.fromkeys(
    ("binary_port", "ping_port", "rpc_port", "qm2qm_port", "console_port"), "off"
)


@contextmanager
def default_port(folder: Path, **settings: Any) -> Iterator[Threaded]:
    """A queue manager whose port of HTTP is not named."""
    process = Threaded(Config(data=folder, name="QM", epm_port="off", **OTHERS_OFF, **settings))
    try:
        yield process
    finally:
        process.stop()


def configured(folder: Path, **settings: Any) -> Config:
    return Config.load(None, {"data": folder, **settings})


def srmp_part(process: Threaded) -> SrmpPart:
    (part,) = (part for part in process.process._running.parts if isinstance(part, SrmpPart))
    return part


# Ports


@pytest.mark.spec("MQSRM-2.1.1-04", "MQSRM-2.1.1-02")
def test_the_default_port_of_http_is_80_and_https_is_off(tmp_path: Path) -> None:
    assert (configured(tmp_path).http_port, configured(tmp_path).https_port) == (80, "off")


@pytest.mark.parametrize("key", ["http_port", "https_port"])
def test_a_port_that_is_taken_is_an_error(tmp_path: Path, key: str) -> None:
    address = new_address()
    certificate, private = Authority(tmp_path).issue(address)
    settings: dict[str, Any] = {"https_certificate": certificate, "https_key": private, key: 45678}
    with (
        taken(address, 45678),
        pytest.raises(ConfigError, match=f"{key}: {address}:45678: Address already in use"),
        threaded(tmp_path / "data", bind=address, **settings),
    ):
        pass
    assert not (tmp_path / "data").exists()


def refuse(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The system does not give the port of HTTP."""

    def check(key: str, host: str, port: int | str, *_: object) -> None:
        if key == "http_port" and port != "off":
            raise ConfigError(f"{key}: {host}:{port}: no") from OSError(number, "no")

    async def listen(_: SrmpShell, port: int, *, key: str, tls: object = None) -> str:
        assert tls is None
        raise ConfigError(f"{key}: {port}: no") from OSError(number, "no")

    monkeypatch.setattr("openmsmq.server.parts.srmp.check_port", check)
    monkeypatch.setattr(SrmpShell, "listen", listen)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM])
def test_port_80_without_the_right_to_it_is_a_warning(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    number: int,
) -> None:
    caplog.set_level(logging.WARNING, "openmsmq")
    refuse(monkeypatch, number)
    with default_port(tmp_path / "data", bind=new_address()) as process:
        assert "http" not in process.process.endpoints
    skipped = [vars(each) for each in caplog.records if vars(each).get("event") == "M0064"]
    assert [each["fields"]["port"] for each in skipped] == [80]


@pytest.mark.parametrize(
    ("number", "settings"), [(errno.EACCES, {"http_port": 80}), (errno.EADDRINUSE, {})]
)
def test_other_reasons_and_a_port_that_is_named_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, settings: dict[str, int]
) -> None:
    refuse(monkeypatch, number)
    with (
        pytest.raises(ConfigError, match="http_port"),
        default_port(tmp_path / "data", bind=new_address(), **settings),
    ):
        pass


def test_a_port_that_is_gone_after_the_check_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, errno.EADDRINUSE)
    monkeypatch.setattr("openmsmq.server.parts.srmp.check_port", lambda *_: None)
    with (
        pytest.raises(ConfigError, match="http_port"),
        default_port(tmp_path / "data", bind=new_address()),
    ):
        pass


# Settings


def test_every_limit_of_http_is_a_key_with_the_same_default() -> None:
    for field in fields(HttpSettings):
        if field.name != "proxy":
            assert Config.fields[f"http_{field.name}"].default == field.default, field.name


def test_every_time_of_srmp_is_a_key_with_the_same_default() -> None:
    shared = {"history_size", "history_seconds", "stream_cleanup_seconds"}
    for field in fields(SrmpSettings):
        if field.name in shared or field.name.startswith("resend_"):
            continue
        keys = (f"srmp_{field.name}", field.name, "srmp_stream_element")
        key = next(key for key in keys if key in Config.fields)
        if key != "srmp_stream_element":
            assert Config.fields[key].default == field.default, key


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("http_max_connections", 0),
        ("http_max_connections_per_address", 0),
        ("http_max_target_bytes", 100),
        ("http_max_headers", 5),
        ("http_max_header_bytes", 100),
        ("http_max_body_bytes", 1024),
        ("http_max_unanswered", 0),
        ("http_max_unanswered_bytes", 1024),
        ("http_max_total_bytes", 1024),
        ("http_max_output_bytes", 100),
        ("http_idle_seconds", 0.5),
        ("http_header_seconds", 0.5),
        ("http_request_seconds", 0.5),
        ("http_min_bytes_per_second", 0.5),
        ("http_write_seconds", 0.5),
        ("http_linger_seconds", 61.0),
        ("http_max_connections_per_host", 0),
        ("http_max_pipelined", 0),
        ("http_max_pipelined_bytes", 1024),
        ("http_response_seconds", 0.5),
        ("http_keep_seconds", -1.0),
        ("http_max_response_bytes", 100),
        ("srmp_retransmission_seconds", 0.5),
        ("srmp_stream_receipt_seconds", -1.0),
        ("srmp_maximum_stream_receipt_delay", -1.0),
        ("srmp_cleanup_seconds", 0.5),
        ("srmp_stream_element", "STREAM"),
        ("https_client_certificates", "maybe"),
        ("http_proxy", "proxy"),
        ("http_proxy", "proxy:port"),
        ("http_proxy", "proxy:70000"),
        ("http_proxy", ":3128"),
        ("http_host", "a b"),
        ("https_host", "a/b"),
    ],
)
def test_a_setting_out_of_its_range_is_refused(tmp_path: Path, key: str, wrong: object) -> None:
    with pytest.raises(ConfigError, match=f"{key}: '?{wrong}"):
        configured(tmp_path, **{key: wrong})


def test_limits_of_the_configuration_reach_the_server(tmp_path: Path) -> None:
    config = configured(tmp_path, http_max_unanswered=7, http_idle_seconds=9.0)
    settings = http_settings(config)
    assert (settings.max_unanswered, settings.idle_seconds, settings.proxy) == (7, 9.0, None)


def test_receipts_go_to_the_hosts_that_an_operator_allows(tmp_path: Path) -> None:
    settings = {"bind": new_address(), "http_port": 0, **OTHERS_OFF, "epm_port": "off"}
    for hosts in ((), ("Friend", "[2001:db8::1]")):
        folder = tmp_path / str(len(hosts))
        with threaded(folder, srmp_receipt_hosts=hosts, **settings) as process:
            manager = process.process._running.host.manager
            allowed = manager.state.settings.receipt_hosts
        assert allowed == {host.strip("[]").lower() for host in hosts}
    with pytest.raises(ConfigError, match=r"srmp_receipt_hosts: .*'a/b' is not a host name"):
        configured(tmp_path, srmp_receipt_hosts=("friend", "a/b"))


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("proxy:3128", ("proxy", 3128)),
        ("http://Proxy.example.org:80/", ("proxy.example.org", 80)),
        ("[2001:db8::1]:8080", ("2001:db8::1", 8080)),
    ],
)
def test_a_proxy_has_a_host_and_a_port(tmp_path: Path, text: str, proxy: tuple[str, int]) -> None:
    config = configured(tmp_path, http_proxy=text, http_proxy_bypass=("*.Example.com",))
    assert http_settings(config).proxy == Proxy(*proxy, ("*.example.com",))


@pytest.mark.parametrize(
    ("settings", "hosts"),
    [
        ({"http_port": 80}, ("{bind}", "")),
        ({"http_port": 8080}, ("{bind}:8080", "")),
        ({"http_port": 8080, "bind": "0.0.0.0"}, ("QM:8080", "")),  # noqa: S104 - not bound
        ({"http_port": "off", "https_port": 443}, ("", "")),
        ({"http_port": "off", "https_port": 8443}, ("", "QM:8443")),
        ({"http_port": 80, "http_host": "shop", "https_host": "shop:8443"}, ("shop", "shop:8443")),
    ],
)
def test_urls_for_others_have_the_address_and_port_of_this_machine(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, Any],
    hosts: tuple[str, str],
) -> None:
    async def listen(shell: SrmpShell, port: int, **_: object) -> str:
        return f"{shell._bind}:{port}"

    monkeypatch.setattr(SrmpShell, "listen", listen)
    monkeypatch.setattr("openmsmq.server.parts.srmp.check_port", lambda *_: None)
    bind = new_address()
    certificate, private = Authority(tmp_path).issue(bind)
    files = {"https_certificate": certificate, "https_key": private}
    settings = {"bind": bind, "name": "QM", **files, **settings}
    with threaded(tmp_path / "data", **settings) as process:
        requests = srmp_part(process).protocol._sender.requests
        http_host, https_host = hosts
        assert requests.http_host == http_host.format(bind=bind)
        assert requests.https_host == https_host


@pytest.mark.parametrize("port", [0, "off"])
def test_a_stream_receipt_needs_a_port_at_its_receiver(tmp_path: Path, port: object) -> None:
    # The receipt cannot reach this machine by a name that is not known.
    settings: dict[str, Any] = {"http_port": port, "http_host": "no-such-host.invalid"}
    with (
        threaded(tmp_path / "to", bind=new_address(), http_port=0) as receiver,
        threaded(tmp_path / "from", bind=new_address(), **settings) as sender,
        openmsmq.connect(receiver.config.socket_path) as there,
        openmsmq.connect(sender.config.socket_path) as here,
    ):
        there.create_queue(ORDERS, transactional=True)
        name = f"DIRECT=HTTP://{receiver.process.endpoints['http']}/msmq/private$/orders"
        with here.transaction() as transaction:
            here.send(name, "one", transaction=transaction)
        hint = "" if port == 0 else ": nothing listens at http_port here"
        expected = f"delivered, but the stream receipt has not come yet{hint}"
        deadline = time.monotonic() + 20
        while (shown := here.outgoing_info(name)["reason"]) != expected:
            assert time.monotonic() < deadline, shown


# Certificates


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"https_port": 0}, "https_port: HTTPS needs https_certificate and https_key"),
        ({"https_certificate": "x.pem"}, "https_certificate and https_key together"),
        ({"https_key": "x.key"}, "https_certificate and https_key together"),
        ({"https_certificate": "x.pem", "https_key": "x.key"}, "https_certificate: .*x.pem: "),
        ({"https_ca": "none.pem"}, "https_ca: .*none.pem: "),
        ({"https_client_certificates": "optional"}, "https_client_certificates: https_ca is need"),
    ],
)
def test_certificates_that_cannot_be_used_are_named(
    tmp_path: Path, settings: dict[str, object], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        SrmpPart.check(configured(tmp_path, http_port="off", **settings))


@pytest.mark.spec("MQSRM-5.1-02")
@pytest.mark.parametrize(
    ("key", "mode"),
    [
        ("ignored", ssl.CERT_NONE),
        ("optional", ssl.CERT_OPTIONAL),
        ("required", ssl.CERT_REQUIRED),
    ],
)
def test_tls_is_1_2_or_newer_and_names_are_checked(
    tmp_path: Path, key: str, mode: ssl.VerifyMode
) -> None:
    authority = Authority(tmp_path)
    certificate, private = authority.issue("127.0.0.1")
    server, client = tls_contexts(
        configured(
            tmp_path,
            https_certificate=certificate,
            https_key=private,
            https_ca=authority.file,
            https_client_certificates=key,
        )
    )
    assert server is not None
    assert client is not None
    assert server.verify_mode == mode
    assert client.verify_mode == ssl.CERT_REQUIRED
    assert client.check_hostname
    for context in (server, client):
        assert context.minimum_version == ssl.TLSVersion.TLSv1_2


# Messages


@pytest.mark.parametrize("secure", [False, True])
def test_a_message_that_is_posted_is_received(tmp_path: Path, secure: bool) -> None:  # noqa: FBT001 - the case
    address = new_address()
    authority = Authority(tmp_path)
    settings: dict[str, Any] = {"http_port": 0}
    if secure:
        certificate, private = authority.issue(address)
        settings = {"https_port": 0, "https_certificate": certificate, "https_key": private}
    with threaded(tmp_path / "data", bind=address, **settings) as process:
        tls = ssl.create_default_context(cafile=authority.file) if secure else None
        endpoint = process.process.endpoints["https" if secure else "http"]
        with openmsmq.connect(process.config.socket_path) as manager:
            manager.create_queue(ORDERS)
            durable = "<services><durable/></services>"
            assert post_message(endpoint, "orders", b"pizza", tls=tls, services=durable) == 200
            with manager.open_queue(ORDERS, access="receive") as queue:
                message = queue.receive(timeout=5)
                assert (message.body, message.label) == ("pizza", "posted")
                assert message.delivery == "recoverable"
            assert post_message(endpoint, "missing", b"pizza", tls=tls) == 400


def test_the_certificate_is_read_again(tmp_path: Path) -> None:
    address = new_address()
    first = Authority(tmp_path, "first")
    certificate, private = first.issue(address)
    files: dict[str, Any] = {"https_certificate": certificate, "https_key": private}
    with threaded(tmp_path / "data", bind=address, https_port=0, **files) as process:
        endpoint = process.process.endpoints["https"]

        def trusts(authority: Authority) -> bool:
            tls = ssl.create_default_context(cafile=authority.file)
            try:
                return post_message(endpoint, "missing", b"", tls=tls) == 400
            except ssl.SSLCertVerificationError:
                return False

        assert trusts(first)
        second = Authority(tmp_path, "second")
        second.issue(address)
        assert not trusts(second)
        process.call(process.process.reload)
        assert trusts(second)
        assert not trusts(first)


def test_requests_are_counted_by_their_status(tmp_path: Path) -> None:
    address = new_address()
    with threaded(tmp_path / "data", bind=address, http_port=0) as process:
        endpoint = process.process.endpoints["http"]
        connection = http.client.HTTPConnection(endpoint, timeout=20)
        connection.request("GET", "/")
        response = connection.getresponse()
        assert (response.status, response.read()) == (404, b"")
        connection.request("GET", "/msmq/private$/orders")
        response = connection.getresponse()
        assert (response.status, response.headers["Allow"]) == (405, "POST")
        connection.close()
        part = srmp_part(process)
        counts = process.call(lambda: {labels: count for _, labels, count in part._counts()})
    assert counts[("404",)] == counts[("405",)] == 1
    assert counts[("srmp", "connected")] == 1
