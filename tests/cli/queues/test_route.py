"""`openmsmq route`."""

from collections.abc import Iterator

import pytest
from tests.cli.running import Manager

FAR = r"PRIVATE=11111111-1111-1111-1111-111111111111\00000005"


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Manager]:
    running = Manager(tmp_path_factory.mktemp("qm") / "data")
    yield running
    assert running.stop() == 0


def test_a_way_is_explained_and_nothing_is_sent(manager: Manager) -> None:
    outcome = manager.run("route", r"DIRECT=OS:far\private$\q")
    assert outcome.code == 0
    assert "never routed" in outcome.out
    assert manager.run("outgoing", "--json").objects == []


def test_no_way_ends_with_1(manager: Manager) -> None:
    outcome = manager.run("route", FAR)
    assert outcome.code == 1
    assert outcome.out.splitlines()[-1] == "No way: there is no directory to route by"
    shown = manager.run("route", FAR, "--json")
    assert shown.code == 1
    assert shown.object["found"] is False
