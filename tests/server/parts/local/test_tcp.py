"""Clients over TCP: TLS and tokens."""

import hashlib
import logging
import os
import socket
import ssl
import time
from pathlib import Path
from typing import Any

import pytest
from tests.net.certificate import Authority
from tests.server.parts.local.filling import ORDERS, fill, logged
from tests.server.raw_client import RawClient, bodies
from tests.server.threaded import threaded

from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.framing import frame
from openmsmq.security.caller import unix_user_sid
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificate"))


def over_tcp(tmp_path: Path, authority: Authority) -> dict[str, Any]:
    certificate, key = authority.issue("127.0.0.1")
    tokens = tmp_path / "tokens.toml"
    entries = {"ours": f"uid:{os.geteuid()}", "theirs": "S-1-5-21-1-2-3-1000"}
    tokens.write_text(
        "".join(
            f'"{hashlib.sha256(token.encode()).hexdigest()}" = "{principal}"\n'
            for token, principal in entries.items()
        )
    )
    return {
        "local_port": 0,
        "local_certificate": certificate,
        "local_key": key,
        "local_tokens": tokens,
    }


def test_a_client_over_tcp_is_known_by_its_token(tmp_path: Path, authority: Authority) -> None:
    with threaded(tmp_path, **over_tcp(tmp_path, authority)) as running:
        address = running.process.endpoints["local-tcp"]
        with RawClient.connect_tls(address, authority.file) as ours:
            told = ours.hello("ours")
            assert told["sid"] == unix_user_sid(os.geteuid()).serialize()
            ours.create(ORDERS)
            fill(ours, b"x" * 3_000_000)
            assert bodies(ours.receive(ours.open(ORDERS))) == [b"x" * 3_000_000]
        with RawClient.connect_tls(address, authority.file) as theirs:
            theirs.hello("theirs")
            with pytest.raises(QueueError, match="MQ_ERROR_ACCESS_DENIED"):
                theirs.open(ORDERS)
            theirs.open(ORDERS, "send")


@pytest.mark.parametrize("token", ["", "guess"])
def test_an_unknown_token_is_refused_over_tcp(
    tmp_path: Path, authority: Authority, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.WARNING, "openmsmq"),
        threaded(tmp_path, **over_tcp(tmp_path, authority)) as running,
    ):
        address = running.process.endpoints["local-tcp"]
        with RawClient.connect_tls(address, authority.file) as client:
            with pytest.raises(QueueError, match=r"MQ_ERROR_ACCESS_DENIED.*token"):
                client.hello(token)
            assert client.hung_up()
        (told,) = logged(caplog, "M0023")
        assert told["peer"] == "127.0.0.1"
        assert "token" in told["reason"]
        assert logged(caplog, "M0022") == []
        assert running.process.manager.counters.clients.of("local", "refused") == 1


def test_the_tcp_port_speaks_tls_only(
    tmp_path: Path, authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        caplog.at_level(logging.WARNING, "openmsmq"),
        threaded(tmp_path, **over_tcp(tmp_path, authority)) as running,
    ):
        host, port = running.process.endpoints["local-tcp"].split(":")
        with socket.create_connection((host, int(port)), 20) as plain:
            plain.sendall(frame(local.encode(local.Hello(1, local.VERSION, "ours"))))
            client = RawClient(plain)
            assert client.hung_up()
        stranger = ssl.create_default_context()
        with (
            socket.create_connection((host, int(port)), 20) as plain,
            pytest.raises(ssl.SSLError),
        ):
            stranger.wrap_socket(plain, server_hostname=host)
        deadline = time.monotonic() + 10
        while len(reasons := refusals(caplog)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert all(reason.startswith("TLS was not agreed on: ") for reason in reasons)


def refusals(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [str(fields["reason"]) for fields in logged(caplog, "M0023")]


@pytest.mark.parametrize("missing", ["local_certificate", "local_key", "local_tokens"])
def test_a_tcp_port_needs_certificate_key_and_tokens(
    tmp_path: Path, authority: Authority, missing: str
) -> None:
    settings = over_tcp(tmp_path, authority)
    del settings[missing]
    with pytest.raises(ConfigError, match="local_port: needs"), threaded(tmp_path, **settings):
        pass


def test_a_port_that_is_taken_is_an_error_that_names_the_key(
    tmp_path: Path, authority: Authority
) -> None:
    settings = over_tcp(tmp_path, authority)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings["local_port"] = taken.getsockname()[1]
        with pytest.raises(ConfigError, match="local_port: 127"), threaded(tmp_path, **settings):
            pass
