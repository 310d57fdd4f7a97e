"""TLS between queue managers that have it."""

import logging
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.interop.loopback import new_address
from tests.net.certificate import Authority

import openmsmq
from openmsmq import Message
from openmsmq.server.config import Config
from openmsmq.server.parts.binary import tls_contexts
from openmsmq.wire.errors import ConfigError

WAIT_SECONDS = 30.0


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def node(folder: Path, name: str, address: str, signer: Authority, trusted: Authority) -> Any:
    certificate, key = signer.issue(address)
    return openmsmq.embedded(
        folder / name,
        name=name,
        bind=address,
        binary_port=1801,
        binary_certificate=certificate,
        binary_key=key,
        binary_ca=trusted.file,
    )


def eventually(check: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := check()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def test_messages_go_over_tls_and_others_are_not_let_in(
    tmp_path: Path, authority: Authority
) -> None:
    alpha, beta, between = new_address(), new_address(), new_address()
    target = rf"DIRECT=TCP:{beta}\private$\in"
    with (
        node(tmp_path, "alpha", alpha, authority, authority) as sender,
        node(tmp_path, "beta", beta, authority, authority) as receiver,
    ):
        queue = receiver.create_queue(r".\private$\in", transactional=True)
        with sender.transaction() as work:
            for number in range(50):
                sender.send(target, Message(b"secret %d" % number), transaction=work)
        bodies = [queue.receive(timeout=WAIT_SECONDS).body for _ in range(50)]
        assert bodies == [f"secret {number}" for number in range(50)]
        # A peer without a certificate gets nowhere, and neither does one without TLS.
        trusting = ssl.create_default_context(cafile=authority.file)
        with (
            socket.create_connection((beta, 1801), 20, (between, 0)) as plain,
            trusting.wrap_socket(plain, server_hostname=beta) as secure,
        ):
            assert secure.version() == "TLSv1.3"
            assert ended(secure)
        with socket.create_connection((beta, 1801), 20, (between, 0)) as plain:
            plain.sendall(bytes(600))
            assert ended(plain)


def ended(plain: socket.socket) -> bool:
    """Whether the other side hangs up, with no more than an alert."""
    try:
        return len(plain.recv(1000)) < 20 and plain.recv(1000) == b""
    except (ConnectionResetError, ssl.SSLError):
        return True


def test_a_peer_of_another_authority_is_told_apart(
    tmp_path: Path, authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    alpha, beta = new_address(), new_address()
    other = Authority(tmp_path, "other")
    with (
        caplog.at_level(logging.INFO, "openmsmq"),
        node(tmp_path, "alpha", alpha, authority, authority) as sender,
        node(tmp_path, "beta", beta, other, authority) as receiver,
    ):
        receiver.create_queue(r".\private$\in")
        sender.send(rf"DIRECT=TCP:{beta}\private$\in", Message(b"x", delivery="recoverable"))
        (waiting,) = eventually(lambda: [each for each in sender.outgoing() if each["last_error"]])
        assert "certificate" in waiting["reason"]
        assert waiting["messages"] == 1
        assert receiver.queue_info(r".\private$\in")["messages"] == 0
        eventually(lambda: any(reason(each).startswith("TLS was not") for each in caplog.records))


def reason(record: logging.LogRecord) -> str:
    return str(getattr(record, "fields", {}).get("detail", ""))


def test_a_queue_manager_without_tls_gets_no_session(tmp_path: Path, authority: Authority) -> None:
    alpha, beta = new_address(), new_address()
    with (
        openmsmq.embedded(tmp_path / "alpha", name="alpha", bind=alpha, binary_port=1801) as sender,
        node(tmp_path, "beta", beta, authority, authority) as receiver,
    ):
        receiver.create_queue(r".\private$\in")
        sender.send(rf"DIRECT=TCP:{beta}\private$\in", Message(b"x", delivery="recoverable"))
        eventually(lambda: [each for each in sender.outgoing() if each["last_error"]])
        assert receiver.queue_info(r".\private$\in")["messages"] == 0


@pytest.mark.parametrize("missing", ["binary_certificate", "binary_key", "binary_ca"])
def test_all_three_files_are_needed(tmp_path: Path, authority: Authority, missing: str) -> None:
    certificate, key = authority.issue("127.0.0.2")
    files = {
        "binary_certificate": certificate,
        "binary_key": key,
        "binary_ca": authority.file,
    }
    assert None not in tls_contexts(Config.load(None, files))
    del files[missing]
    with pytest.raises(ConfigError, match="needs binary_certificate, binary_key and binary_ca"):
        tls_contexts(Config.load(None, files))


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, authority: Authority) -> None:
    certificate, _ = authority.issue("127.0.0.2")
    wrong = tmp_path / "wrong.key"
    wrong.write_text("no key")
    files = {"binary_certificate": certificate, "binary_key": wrong, "binary_ca": authority.file}
    with pytest.raises(ConfigError, match=r"binary_certificate: .*127\.0\.0\.2\.pem: "):
        tls_contexts(Config.load(None, files))
