"""One queue manager for all commands, and a queue of its own for each test."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from tests.cli.running import Manager

NUMBERS = count(1)


@pytest.fixture(scope="session")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Manager]:
    running = Manager(tmp_path_factory.mktemp("qm") / "data")
    yield running
    assert running.stop() == 0


@pytest.fixture
def queue(manager: Manager) -> Iterator[str]:
    path = rf".\private$\test-{next(NUMBERS)}"
    assert manager.run("queue", "create", path).code == 0
    yield path
    manager.run("queue", "delete", path)


@pytest.fixture
def transactional_queue(manager: Manager) -> Iterator[str]:
    path = rf".\private$\transactional-{next(NUMBERS)}"
    assert manager.run("queue", "create", path, "--transactional").code == 0
    yield path
    manager.run("queue", "delete", path)


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The width and colours of the terminal that runs the tests must not matter."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "OPENMSMQ_SOCKET"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"
