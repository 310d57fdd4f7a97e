"""Tokens, certificates and the log file are read again while the queue manager runs."""

import hashlib
import logging
import os
import ssl
from pathlib import Path
from typing import Any

import pytest
from tests.net.certificate import Authority
from tests.server.parts.local.filling import logged
from tests.server.raw_client import RawClient
from tests.server.threaded import Threaded, threaded

from openmsmq.wire.codes.queue_error import QueueError


@pytest.fixture(autouse=True)
def _everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "openmsmq")


def token_line(token: str) -> str:
    return f'"{hashlib.sha256(token.encode()).hexdigest()}" = "uid:{os.geteuid()}"\n'


def over_tcp(folder: Path, authority: Authority) -> dict[str, Any]:
    certificate, key = authority.issue("127.0.0.1")
    tokens = folder / "tokens.toml"
    tokens.write_text(token_line("old"))
    return {
        "local_port": 0,
        "local_certificate": certificate,
        "local_key": key,
        "local_tokens": tokens,
    }


def greet(running: Threaded, authority: Authority, token: str) -> None:
    address = running.process.endpoints["local-tcp"]
    with RawClient.connect_tls(address, authority.file) as client:
        client.hello(token)


def test_tokens_are_read_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    authority = Authority(tmp_path)
    settings = over_tcp(tmp_path, authority)
    with threaded(tmp_path / "data", **settings) as running:
        settings["local_tokens"].write_text(token_line("new"))
        greet(running, authority, "old")
        running.call(running.process.reload)
        greet(running, authority, "new")
        with pytest.raises(QueueError, match="token"):
            greet(running, authority, "old")
    (told,) = logged(caplog, "M0016")
    assert told["what"] == "local_tokens, local_certificate"


def test_broken_tokens_leave_those_before(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    authority = Authority(tmp_path)
    settings = over_tcp(tmp_path, authority)
    with threaded(tmp_path / "data", **settings) as running:
        settings["local_tokens"].write_text("nonsense")
        running.call(running.process.reload)
        settings["local_tokens"].unlink()
        running.call(running.process.reload)
        greet(running, authority, "old")
    told, missing = logged(caplog, "M0017")
    assert told["what"] == "local_tokens"
    assert told["reason"].startswith(f"{settings['local_tokens']}: ")
    assert missing["reason"] == f"{settings['local_tokens']}: No such file or directory"
    for reloaded in logged(caplog, "M0016"):
        assert reloaded["what"] == "local_certificate"


def test_a_new_certificate_is_shown_to_new_clients(tmp_path: Path) -> None:
    old = Authority(tmp_path)
    settings = over_tcp(tmp_path, old)
    (tmp_path / "other").mkdir()
    new = Authority(tmp_path / "other", "successor")
    with threaded(tmp_path / "data", **settings) as running:
        for ours, theirs in zip(
            (settings["local_certificate"], settings["local_key"]),
            new.issue("127.0.0.1"),
            strict=True,
        ):
            ours.write_bytes(theirs.read_bytes())
        running.call(running.process.reload)
        greet(running, new, "old")
        with pytest.raises(ssl.SSLCertVerificationError):
            greet(running, old, "old")


def test_a_certificate_that_cannot_be_used_leaves_the_one_before(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    authority = Authority(tmp_path)
    settings = over_tcp(tmp_path, authority)
    with threaded(tmp_path / "data", **settings) as running:
        settings["local_certificate"].write_text("nonsense")
        running.call(running.process.reload)
        greet(running, authority, "old")
    assert [told["what"] for told in logged(caplog, "M0017")] == ["local_certificate"]


def test_certificates_between_queue_managers_are_read_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("127.0.0.1")
    files: dict[str, Any] = {
        "binary_certificate": certificate,
        "binary_key": key,
        "binary_ca": authority.file,
    }
    with threaded(tmp_path / "data", binary_port=0, **files) as running:
        running.call(running.process.reload)
        key.write_text("nonsense")
        running.call(running.process.reload)
    assert [told["what"] for told in logged(caplog, "M0016")] == ["binary_certificate", "nothing"]
    assert [told["what"] for told in logged(caplog, "M0017")] == ["binary_certificate"]


def test_a_reload_of_nothing_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with threaded(tmp_path) as running:
        running.call(running.process.reload)
    (told,) = logged(caplog, "M0016")
    assert told["what"] == "nothing"
