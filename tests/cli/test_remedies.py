"""Where the cause is known, the remedy is for that cause and not the general one of the code."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.running import Manager, Outcome, run
from tests.net.certificate import Authority


def test_a_move_to_another_queue(manager: Manager, queue: str, transactional_queue: str) -> None:
    outcome = manager.run("move", queue, transactional_queue, "--all")
    assert outcome.code == 1
    assert "between a queue and its own subqueues, and out of journals and dead" in outcome.err
    assert "receive and send them in one transaction" in outcome.err
    assert "connector" not in outcome.err


def test_a_backup_into_a_directory_that_is_not_there(manager: Manager) -> None:
    outcome = manager.run("backup", "/nonexistent/x")
    assert "/nonexistent/x: No such file or directory\n" in outcome.err
    assert "The directory /nonexistent does not exist on the machine of the que" in outcome.err
    assert "store check" not in outcome.err
    assert ".part" not in outcome.err


def test_a_path_name_without_a_computer(manager: Manager) -> None:
    outcome = manager.run("queue", "create", r"private$\x")
    assert "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME" in outcome.err
    assert r"Remedy: Write it as '.\private$\x'." in outcome.err


def test_a_path_name_of_another_computer(manager: Manager) -> None:
    outcome = manager.run("queue", "create", r"elsewhere\private$\x")
    assert "elsewhere is not this queue manager" in outcome.err
    assert r"Write '.\private$\x' for this computer." in outcome.err
    assert "names" in outcome.err


def test_a_destination_that_nothing_goes_to(manager: Manager) -> None:
    outcome = manager.run("outgoing", "pause", r"DIRECT=OS:elsewhere\private$\x")
    assert "Remedy: Compare the destination with `openmsmq outgoing`." in outcome.err


def test_a_queue_over_its_quota(manager: Manager, queue: str) -> None:
    manager.run("queue", "set", queue, "--quota", "1")
    outcome = manager.run("send", queue, "--body", "x" * 2000, "--recoverable")
    assert "MQ_ERROR_INSUFFICIENT_RESOURCES" in outcome.err
    assert f"openmsmq queue set '{queue}' --quota KB" in outcome.err


def test_a_wrong_property_says_what_fits(manager: Manager, queue: str) -> None:
    outcome = manager.run("queue", "set", queue, "--multicast", "nowhere")
    assert "'nowhere' is not an address and a port such as 234.1.1.1:8001" in outcome.err


def test_a_queue_of_another_machine_that_does_not_answer(manager: Manager) -> None:
    outcome = manager.run("peek", r"DIRECT=TCP:127.61.0.77\private$\x")
    assert "Likely cause: The queue is on another machine, which is down" in outcome.err
    assert "Remedy: Check the host, its Message Queuing service, and its firewall" in outcome.err
    assert "openmsmq serve" not in outcome.err


# Clients over the network


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> Iterator[str]:
    """Where a queue manager listens with TLS; its tokens know only "ours"."""
    folder = tmp_path_factory.mktemp("tcp")
    tokens = folder / "tokens.toml"
    digest = hashlib.sha256(b"ours").hexdigest()
    tokens.write_text(f'"{digest}" = "user:root"\n')
    certificate, key = authority.issue("127.0.0.1")
    config = folder / "config.toml"
    config.write_text(
        f'local_certificate = "{certificate}"\nlocal_key = "{key}"\nlocal_tokens = "{tokens}"\n'
    )
    running = Manager(folder / "data", "--config", str(config), "--local-port", "0")
    yield running.run("status", "--json").object["endpoints"]["local-tcp"]
    assert running.stop() == 0


def status_over_tcp(address: str) -> Outcome:
    outcome = run(["status", "--socket", address])
    assert outcome.code == 1
    return outcome


def test_no_token(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENMSMQ_TOKEN_FILE", raising=False)
    outcome = status_over_tcp(address)
    assert "MQ_ERROR_INVALID_PARAMETER" in outcome.err
    assert "Remedy: Set OPENMSMQ_TOKEN_FILE to a file with your token.\n" in outcome.err
    assert "could not name" not in outcome.err


@pytest.fixture
def token_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "token"
    file.write_text("theirs\n")
    monkeypatch.setenv("OPENMSMQ_TOKEN_FILE", str(file))
    return file


@pytest.mark.usefixtures("token_file")
def test_a_token_that_nobody_knows(
    address: str, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENMSMQ_CA_FILE", str(authority.file))
    outcome = status_over_tcp(address)
    assert "MQ_ERROR_ACCESS_DENIED (0xC00E0025): the token is not known" in outcome.err
    assert "The token is not in local_tokens of the queue manager, or was changed." in outcome.err
    assert "queue grant" not in outcome.err


@pytest.mark.usefixtures("token_file")
def test_a_certificate_that_is_not_trusted(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENMSMQ_CA_FILE", raising=False)
    outcome = status_over_tcp(address)
    assert f"the certificate of {address} is not trusted: " in outcome.err
    assert "Remedy: Set OPENMSMQ_CA_FILE " in outcome.err
    assert "still starting" not in outcome.err
