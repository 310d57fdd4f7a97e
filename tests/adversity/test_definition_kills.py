"""Definitions that are applied over HTTP while the queue manager is killed, or has no room."""

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from tests.admin.callers import PREFIX, Client, Program, add_token, console_alone
from tests.admin.console_process import wait_until
from tests.admin.metrics.faulty_machine import machine_at
from tests.cli.running import SECONDS, Manager

MACHINE: Final = Path(__file__).parents[1] / "admin" / "metrics" / "machine"
# Its batch is larger than any other of the test.
QUEUES: Final = 40
BATCH_BYTES: Final = 10_000
BEFORE: Final = """
queues = [
    { path = 'private$\\kept', label = "before" },
    { path = 'private$\\dropped' },
]
outgoing = [{ destination = 'DIRECT=OS:beta\\private$\\before' }]
redirections = []
"""
WANTED: Final = """
outgoing = [{ destination = 'DIRECT=OS:beta\\private$\\after' }]
redirections = [{ kind = "outbound", url = "http://beta/*", to = "http://proxy/msmq/private$/x" }]

[machine]
permissions = [
    { principal = "administrators", allow = ["full"] },
    { principal = "everyone", allow = ["get-properties"] },
]

[[queues]]
path = 'private$\\kept'
label = "after"
permissions = [{ principal = "everyone", allow = ["send"] }]
""" + "".join(
    f"[[queues]]\npath = 'private$\\new{number}'\nlabel = '{number:0100}'\ntransactional = true\n"
    for number in range(QUEUES)
)
APPLY: Final = {"text": WANTED, "prune": True}
pytestmark = pytest.mark.timeout(200)


class Case:
    """A queue manager whose disk stands still on demand, and a console that outlives it."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.options = options
        self.manager = Manager(folder / "data", *options)
        self.client: Client

    def hold(self, where: str) -> None:
        """Stand still at this place of the next large write."""
        (self.folder / "faults.json").write_text(json.dumps({where: BATCH_BYTES}))

    def kill(self) -> None:
        self.manager.process.kill()
        self.manager.process.wait(SECONDS)
        (self.folder / "faults.json").unlink(missing_ok=True)

    def restart(self) -> None:
        self.manager = Manager(self.folder / "data", *self.options)
        # The console connects again.
        wait_until(lambda: self.client.ask("GET", f"{PREFIX}/definitions")[0] == 200)

    def export(self) -> dict[str, Any]:
        definitions: dict[str, Any] = self.client.get("/definitions")
        return definitions


@contextmanager
def running(folder: Path, patch: pytest.MonkeyPatch, *options: str) -> Iterator[Case]:
    patch.setenv("PYTHONPATH", str(MACHINE))
    patch.setenv("FAULTY_MACHINE", str(folder / "faults.json"))
    case = Case(folder, *options)
    try:
        with console_alone(case.manager, folder / "console") as case.client:
            yield case
    finally:
        case.kill()


def apply(client: Client, body: dict[str, Any], answers: list[tuple[int, Any]]) -> None:
    status, _, content = client.ask("POST", f"{PREFIX}/definitions/apply", body)
    answers.append((status, json.loads(content)))


def kill_at(case: Case, point: str, body: dict[str, Any]) -> tuple[int, Any]:
    """Apply definitions and kill the queue manager at a point; what the client is told."""
    answers: list[tuple[int, Any]] = []
    applying = threading.Thread(target=apply, args=(case.client, body, answers))
    if point == "unread":
        case.manager.process.send_signal(signal.SIGSTOP)
    elif point != "answered":
        case.hold(f"hold_{point}")
    applying.start()
    if point == "answered":
        applying.join(SECONDS)
    elif point != "unread":
        wait_until(lambda: (case.folder / "held").exists() or answers)
        assert not answers
    case.kill()
    applying.join(SECONDS)
    (answer,) = answers
    return answer


def assert_completed_by_applying_again(case: Case, body: dict[str, Any]) -> None:
    case.client.post("/definitions/apply", body)
    assert case.client.post("/definitions/diff", body) == {"changes": []}


@pytest.mark.parametrize(
    ("point", "applied"),
    [("unread", False), ("before", False), ("amid", False), ("after", True), ("answered", True)],
)
def test_a_kill_leaves_all_of_a_definition_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, *, applied: bool
) -> None:
    with running(tmp_path, monkeypatch) as case:
        case.client.post("/definitions/apply", {"text": BEFORE})
        before = case.export()
        status, answer = kill_at(case, point, APPLY)
        if point == "answered":
            assert status == 200
            queues = [change for change in answer["changes"] if change["kind"] == "queue"]
            assert [change["action"] for change in queues].count("create") == QUEUES
        else:
            assert (status, answer["error"]["name"]) == (503, "MQ_ERROR_SERVICE_NOT_AVAILABLE")
            assert "look before you try again" in answer["error"]["remedy"]
        case.restart()
        found = case.export()
        assert (found != before) == applied
        assert_completed_by_applying_again(case, APPLY)
        wanted = case.export()
        assert applied == (found == wanted)
        assert [queue["path"] for queue in wanted["queues"]] == sorted(
            ["private$\\kept", *(f"private$\\new{number}" for number in range(QUEUES))]
        )
        case.kill()
        case.restart()
        assert case.export() == wanted


DIRECTORY: Final = {
    "text": WANTED
    + """
[[queues]]
path = 'public'
label = "of the directory"
[[sites]]
name = "Site"
[[sites]]
name = "North"
[[links]]
sites = ["North", "Site"]
cost = 3
[[distribution_lists]]
name = "all"
members = ['DIRECT=OS:beta\\private$\\after']
""",
    "prune": True,
}


@pytest.mark.parametrize("point", ["unread", "before", "amid", "after", "answered"])
def test_a_kill_between_store_and_directory_is_mended_by_applying_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    config = tmp_path / "qm.toml"
    config.write_text(f'directory = "{tmp_path / "directory.json"}"\n')
    with running(tmp_path, monkeypatch, "--config", str(config)) as case:
        case.client.post("/definitions/apply", {"text": BEFORE})
        status, _ = kill_at(case, point, DIRECTORY)
        assert status == (200 if point == "answered" else 503)
        case.restart()
        assert_completed_by_applying_again(case, DIRECTORY)
        wanted = case.export()
        assert [site["name"] for site in wanted["sites"]] == ["North", "Site"]
        assert [queue["path"] for queue in wanted["queues"]].count("public") == 1
        case.kill()
        case.restart()
        assert case.export() == wanted


def test_a_full_disk_refuses_all_of_a_definition_until_there_is_room(tmp_path: Path) -> None:
    with machine_at(tmp_path / "machine", segment_bytes=1 << 20) as machine:
        program = Program(machine.manager, add_token(machine.manager, "all"))
        program.post("/definitions/apply", {"text": BEFORE})
        before = program.get("/definitions")
        machine.break_down(free_bytes=0)
        with machine.connect() as client:
            # The queue manager looks after each write.
            client.set_queue(r".\private$\kept", label="full")
            wait_until(lambda: client.status()["throttled"])
            client.set_queue(r".\private$\kept", label="before")
        status, _, content = program.ask("POST", f"{PREFIX}/definitions/apply", APPLY)
        error = json.loads(content)["error"]
        assert (status, error["name"]) == (409, "MQ_ERROR_INSUFFICIENT_RESOURCES")
        assert "the disk" in error["detail"]
        assert "nothing was changed" in error["cause"]
        assert "Free space on the disk" in error["remedy"]
        assert program.get("/definitions") == before
        # What needs no room is still said and done.
        assert program.post("/definitions/diff", APPLY)["changes"]
        fewer = {"text": BEFORE.replace("    { path = 'private$\\dropped' },\n", ""), "prune": True}
        (change,) = program.post("/definitions/apply", fewer)["changes"]
        assert (change["action"], change["name"]) == ("delete", "private$\\dropped")

        machine.break_down()
        with machine.connect() as client:
            wait_until(lambda: not client.status()["throttled"])
        program.post("/definitions/apply", APPLY)
        assert program.post("/definitions/diff", APPLY) == {"changes": []}
        assert len(program.get("/definitions")["queues"]) == QUEUES + 1
