"""`openmsmq bench`: quick looks at a queue manager, and the suites of a checkout."""

from pathlib import Path

import pytest
from tests.cli.running import Manager, Outcome, run

from openmsmq.cli.bench import command
from openmsmq.cli.bench.measuring import MEASUREMENTS, Load, require
from openmsmq.wire.codes.queue_error import QueueError

QUICK = ("bench", "--seconds", "0.01", "--size", "10")
SHOW_ARGUMENTS = "import sys\nprint(sys.argv[1:], flush=True)\nsys.exit(3)\n"


def check(outcome: Outcome) -> None:
    measured = outcome.objects
    assert len(measured) == MEASUREMENTS == len({each["measurement"] for each in measured})
    for each in measured:
        assert each["body_size"] == 10
        assert each["messages"] > 0
        assert each["per_second"] == each["messages"] / each["seconds"]
        alone = each["measurement"].endswith("one in flight")
        assert (each["p50_seconds"] is not None) is alone
        if alone:
            assert 0 < each["p50_seconds"] <= each["p99_seconds"]


def test_a_queue_manager_is_started_and_measured(tmp_path: Path) -> None:
    outcome = run([*QUICK, "--json", "--data", str(tmp_path)])
    assert (outcome.code, outcome.err) == (0, "")
    check(outcome)
    assert not list(tmp_path.iterdir())


def test_people_get_a_table(manager: Manager) -> None:
    lines = manager.run(*QUICK).out.splitlines()
    assert lines[0] == "One client, bodies of 10 bytes"
    assert lines[1].split() == ["Measurement", "Messages/s", "p50", "ms", "p99", "ms"]
    assert len(lines) == 2 + MEASUREMENTS


@pytest.mark.parametrize("by_variable", [False, True])
def test_a_queue_manager_that_runs_is_as_before(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, *, by_variable: bool
) -> None:
    before = manager.run("queue", "list", "--json").objects
    if by_variable:
        monkeypatch.setenv("OPENMSMQ_SOCKET", manager.socket)
        check(run([*QUICK, "--json"]))
    else:
        check(manager.run(*QUICK, "--json"))
    assert manager.run("queue", "list", "--json").objects == before


def test_a_queue_manager_that_does_not_start_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_PORTS", ("no-such",))
    outcome = run([*QUICK, "--data", str(tmp_path)])
    assert outcome.code == 1
    assert "the queue manager for the benchmark does not start" in outcome.err
    assert not list(tmp_path.iterdir())


def test_messages_that_do_not_come_back_are_an_error() -> None:
    assert require(3) == 3
    with pytest.raises(QueueError, match="did not come back"):
        require(0)


@pytest.mark.parametrize(("size", "chunk"), [(0, 5000), (1024, 5000), (4_000_000, 2)])
def test_large_messages_come_in_smaller_groups(size: int, chunk: int) -> None:
    assert Load(1.0, bytes(size)).chunk == chunk


def test_the_suites_of_the_checkout_run_with_the_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bench").mkdir()
    (tmp_path / command.SUITES).write_text(SHOW_ARGUMENTS)
    monkeypatch.setattr(command, "CHECKOUT", tmp_path)
    assert run(["bench", "brokers", "--quick", "--json"]).code == 3
    assert capfd.readouterr().out == "['brokers', '--quick', '--json']\n"
    assert run(["bench", "all"]).code == 3
    assert capfd.readouterr().out == "[]\n"


def test_an_installed_package_says_that_it_has_no_suites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "CHECKOUT", tmp_path)
    outcome = run(["bench", "brokers"])
    assert outcome.code == 1
    assert "Remedy: clone the repository" in outcome.err


def test_the_suites_are_where_the_command_looks_for_them() -> None:
    assert (command.CHECKOUT / command.SUITES).is_file()
