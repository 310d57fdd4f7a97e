"""A part more is a class in a tuple: the process checks, starts, shows, reloads and closes it."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from tests.server.threaded import threaded

from openmsmq.server import process, start_checks
from openmsmq.server.common_config import CommonConfig
from openmsmq.server.parts import PARTS, PartKind
from openmsmq.server.parts.part import PartStatus, Premises, check_port, settings_of
from openmsmq.wire.errors import ConfigError


class EchoPart:
    """Writes down what happens to it."""

    name = "echo"
    calls: ClassVar[list[str]] = []
    listens: ClassVar[bool] = True

    def __init__(self, config: CommonConfig, premises: Premises) -> None:
        self.calls.append(f"made for {premises.host.manager.state.manager.computer_name}")
        self._config = config

    @staticmethod
    def check(config: CommonConfig) -> None:
        EchoPart.calls.append(f"checked with {config.name}")

    async def listen(self) -> dict[str, str]:
        if not self.listens:
            raise ConfigError("echo_port: taken")
        self.calls.append("listens")
        return {"echo": f"{self._config.bind}:7"}

    async def close(self) -> None:
        self.calls.append("closed")

    def status(self) -> PartStatus:
        return PartStatus({}, fault="the child process ended with exit code 1")

    @property
    def reloads(self) -> dict[str, Callable[[], None]]:
        return {"echo_file": lambda: self.calls.append("reloaded")}


@pytest.fixture
def _echo(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds: tuple[PartKind, ...] = (*PARTS, EchoPart)
    monkeypatch.setattr(process, "PARTS", kinds)
    monkeypatch.setattr(start_checks, "PARTS", kinds)
    monkeypatch.setattr(EchoPart, "calls", [])


@pytest.mark.usefixtures("_echo")
def test_a_part_lives_as_long_as_the_process(tmp_path: Path) -> None:
    with threaded(tmp_path) as running:
        assert running.process.endpoints["echo"] == "127.0.0.1:7"
        info = running.call(running.process.process_info)
        running.call(running.process.reload)
    assert info.faults == {"echo": "the child process ended with exit code 1"}
    assert EchoPart.calls == [
        "checked with ALPHA",
        "made for ALPHA",
        "listens",
        "reloaded",
        "closed",
    ]


@pytest.mark.usefixtures("_echo")
def test_a_part_that_cannot_listen_ends_the_start_and_every_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EchoPart, "listens", False)
    with pytest.raises(ConfigError, match="echo_port: taken"), threaded(tmp_path):
        pass
    assert EchoPart.calls[-1] == "closed"
    assert not (tmp_path / "openmsmq.sock").exists()


def test_settings_of_a_protocol_are_those_of_the_configuration_and_its_own_defaults() -> None:
    @dataclass(frozen=True)
    class Settings:
        bind: str = ""
        max_connections: int = 0
        window: int = 0
        patience: float = 1.5

    config = CommonConfig(bind="127.0.0.9", max_connections=7)
    assert settings_of(Settings, config, window=3) == Settings("127.0.0.9", 7, 3, 1.5)


def test_a_port_that_is_off_or_free_is_no_fault() -> None:
    check_port("echo_port", "127.0.0.1", "off")
    check_port("echo_port", "127.0.0.1", 0)
    check_port("echo_port", "::1", 0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"echo_port: 127.0.0.1:{port}: Address already"):
            check_port("echo_port", "127.0.0.1", port)
