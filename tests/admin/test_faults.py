"""What the console says while its queue manager is busy, full or gone, or the clock is set."""

import contextlib
import http.client
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.admin.callers import PREFIX, Program, add_token, console_alone, queue_path
from tests.admin.console_process import wait_until
from tests.admin.metrics.faulty_machine import Machine, machine_at
from tests.cli.running import Manager

import openmsmq

ORDERS: Final = r".\private$\orders"
AT: Final = queue_path("orders")
DAY: Final = 86_400
DEFINITIONS: Final = "[[queues]]\npath = '.\\private$\\defined'\n"
pytestmark = pytest.mark.timeout(200)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("faults")
    # So small that every message needs room on the disk.
    with machine_at(folder, segment_bytes=1 << 20) as started:
        with started.connect() as client:
            orders = client.create_queue(ORDERS)
            for number in range(3):
                orders.send_and_wait(openmsmq.Message("x", f"order {number}"))
        yield started


@pytest.fixture(scope="module")
def token(machine: Machine) -> str:
    return add_token(machine.manager, "all")


@pytest.fixture
def program(machine: Machine, token: str) -> Iterator[Program]:
    yield Program(machine.manager, token)
    machine.break_down()
    machine.manager.process.send_signal(signal.SIGCONT)
    wait_until(lambda: machine.manager.get("/readyz").status == 200)


def error_of(answer: tuple[int, dict[str, str], bytes]) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(answer[2])["error"]
    return error


def test_a_busy_queue_manager_is_told_everywhere(machine: Machine, program: Program) -> None:
    assert program.ask("GET", AT)[0] == 200
    machine.manager.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: machine.manager.get("/healthz").status == 503)
    # The last figures stay, with their time.
    wait_until(lambda: b"The queue manager does not answer" in program.ask("GET", "/queues")[2])
    assert b"orders" in program.ask("GET", "/queues")[2]

    job = {"kind": "move", "sources": ["private$\\orders"], "target": "private$\\orders;done"}
    for status, headers, content in (
        program.ask("GET", f"{PREFIX}{AT}/messages"),
        program.ask("GET", AT),
        program.ask("GET", f"{PREFIX}/search?text=x"),
        program.ask("GET", f"{PREFIX}/definitions"),
    ):
        assert (status, headers.get("retry-after")) == (503, "2"), content

    for path, body in (
        ("/jobs", job),
        ("/definitions/apply", {"text": DEFINITIONS}),
        (f"{AT}/purge", None),
    ):
        error = error_of(program.ask("POST", PREFIX + path, body))
        assert error["name"] == "MQ_ERROR_SERVICE_NOT_AVAILABLE"
        assert "look before you try again" in error["remedy"]
    machine.manager.process.send_signal(signal.SIGCONT)
    wait_until(lambda: b"does not answer" not in program.ask("GET", "/queues")[2])


def test_a_full_disk_is_told_and_what_needs_no_room_goes_on(
    machine: Machine, program: Program
) -> None:
    with machine.connect() as client:
        orders = client.open_queue(ORDERS, "send")
        orders.send_and_wait(openmsmq.Message("x", "order 4"))
    machine.break_down(free_bytes=0)
    with machine.connect() as client, contextlib.suppress(openmsmq.QueueError):
        # The queue manager looks after each write.
        client.open_queue(ORDERS, "send").send_and_wait(openmsmq.Message("x"))
    wait_until(lambda: b"the disk is full" in program.ask("GET", "/")[2])
    status, _, content = program.ask("POST", f"{PREFIX}{AT}/messages", {"body": "x"})
    error = json.loads(content)["error"]
    assert (status, error["name"]) == (409, "MQ_ERROR_INSUFFICIENT_RESOURCES")
    assert error["remedy"]
    copy = {"kind": "copy", "sources": ["private$\\orders"], "target": "private$\\orders"}
    plan = program.post("/jobs", {**copy, "dry_run": True})
    assert (plan["done"], plan["refused"]) == (0, plan["messages"])
    assert program.get("/search?text=order")["hits"]
    (message, *_) = program.get(f"{AT}/messages")["messages"]
    remove = {"kind": "remove", "sources": ["private$\\orders"]}
    job = program.post("/jobs", {**remove, "lookup_ids": [message["lookup_id"]]})
    assert job["done"] == 1
    machine.break_down()
    with machine.connect() as client:
        wait_until(lambda: not client.status()["throttled"])
    program.post(f"{AT}/messages", {"body": "x"})


@pytest.mark.parametrize("jump", [DAY, -DAY])
def test_a_clock_that_jumps_stops_neither_figures_nor_jobs(
    machine: Machine, program: Program, jump: int
) -> None:
    with machine.connect() as client:
        before = client.open_queue(ORDERS, "peek").count()
        machine.break_down(clock_seconds=jump)
        client.open_queue(ORDERS, "send").send_and_wait(openmsmq.Message("x", "after the jump"))
    assert program.get("/me")["principal"] == "user:root"

    def waiting() -> float:
        columns = program.get(f"{AT}/series?range=1h")["columns"]
        return float(columns["messages"][-1])

    # Plots go on with the new time.
    wait_until(lambda: waiting() == before + 1)
    assert b"after the jump" in program.ask("GET", AT)[2]
    copy = {"kind": "copy", "sources": ["private$\\orders"], "target": "private$\\orders"}
    job = program.post("/jobs", {**copy, "first": 1})
    wait_until(lambda: program.get(f"/jobs/{job['id']}")["state"] == "finished")
    machine.break_down()
    wait_until(lambda: waiting() == before + 2)


def live_page(answer: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """A live page after each patch: the HTML of its parts by their ids, and the navigation."""
    shown: dict[str, Any] = {}
    for line in answer:
        if line.startswith(b"data: "):
            patch = json.loads(line.removeprefix(b"data: "))
            shown |= {**dict(patch["parts"]), "nav": patch["nav"]}
            yield shown


def test_a_stream_that_opens_while_the_queue_manager_is_away_says_so(tmp_path: Path) -> None:
    manager = Manager(tmp_path / "data", "--name", "beta")
    manager.run("queue", "create", ORDERS)
    with console_alone(manager, tmp_path / "console") as client:
        headers = client.headers
        connection = http.client.HTTPConnection(client.console, timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", f"{PREFIX}/status", headers=headers)
            assert connection.getresponse().read()
            manager.process.kill()
            manager.process.wait()
            # Nobody with these rights has looked at queues yet, and the page needs them.
            connection.request("GET", f"/live?page={AT}", headers=headers)
            stream = live_page(connection.getresponse())
            page = next(stream)
            assert "does not answer" in page["stale"]
            assert page["nav"]["state"][0] == "not answering"
            manager = Manager(tmp_path / "data", "--name", "beta")
            page = next(page for page in stream if not page["stale"].strip())
            assert page["nav"]["state"][0] != "not answering"
            assert "orders" in page["side-queues"]
    assert manager.stop() == 0


def test_a_search_whose_queue_manager_dies_says_so(tmp_path: Path) -> None:
    manager = Manager(tmp_path / "data")
    with console_alone(manager, tmp_path / "console") as client:
        connection = http.client.HTTPConnection(client.console, timeout=60)
        manager.process.send_signal(signal.SIGSTOP)
        with contextlib.closing(connection):
            connection.request("GET", f"{PREFIX}/search/stream?text=x", headers=client.headers)
            answer = connection.getresponse()
            assert answer.status == 200
            manager.process.kill()
            manager.process.wait()
            (last,) = [json.loads(line) for line in answer]
    assert (last["ended"], last["problem"]) == (True, "The queue manager does not answer.")
