"""Requests that change something: once with a key, only as they say, and in the audit log."""

import json
import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.admin.callers import PREFIX, Program, add_token, queue_path
from tests.admin.console_process import Watched, children, wait_until, watched
from tests.admin.orders import empty_orders, send

import openmsmq
from openmsmq.admin.front_desk import NOTED_REFUSALS

AT = queue_path("orders")
MESSAGES = f"{PREFIX}{AT}/messages"
MESSAGE = {"body": "a secret body", "label": "one"}


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched(tmp_path_factory.mktemp("changes"), "--name", "alpha") as running:
        yield running


@pytest.fixture(scope="module")
def program(manager: Watched) -> Program:
    return Program(manager, add_token(manager, "all"))


@pytest.fixture
def client(manager: Watched) -> Iterator[openmsmq.QueueManager]:
    with empty_orders(manager) as connected:
        yield connected


def keyed(program: Program, key: str, body: Any = MESSAGE, path: str = MESSAGES) -> tuple[int, Any]:
    status, _, content = program.ask("POST", path, body, **{"Idempotency-Key": key})
    return status, json.loads(content)


def noted(program: Program, action: str) -> list[dict[str, Any]]:
    """Entries of the audit log, the oldest first."""
    entries = program.get("/audit")["entries"]
    return [entry for entry in reversed(entries) if entry["action"] == action]


def test_a_repeated_request_takes_effect_once(
    program: Program, client: openmsmq.QueueManager
) -> None:
    first, second = keyed(program, "a"), keyed(program, "a")
    assert first == second
    assert first[0] == 200
    assert keyed(program, "b") != first
    assert len(program.get(f"{AT}/messages")["messages"]) == 2


def test_requests_with_one_key_at_the_same_time_take_effect_once(
    program: Program, client: openmsmq.QueueManager
) -> None:
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: keyed(program, "together"), range(16)))
    assert {status for status, _ in answers} <= {200, 409}
    assert len({content["id"] for status, content in answers if status == 200}) == 1
    assert len(program.get(f"{AT}/messages")["messages"]) == 1


def test_a_key_stands_for_its_whole_request(
    program: Program, client: openmsmq.QueueManager
) -> None:
    assert keyed(program, "whole")[0] == 200
    assert keyed(program, "whole", {**MESSAGE, "label": "other"})[0] == 422
    send(client, "saved")
    job = program.post("/jobs", {"kind": "save", "sources": ["private$\\orders"]})
    file = program.ask("GET", f"{PREFIX}/jobs/{job['id']}/file")[2]
    load = f"{PREFIX}/jobs/load?target=private$%5Corders"
    assert keyed(program, "load", file, load + "&dry_run=true")[1]["state"] == "dry run"
    status, refused = keyed(program, "load", file, load)
    assert (status, refused["error"]["name"]) == (422, "KEY_USED")


def test_a_refused_request_may_be_made_again_with_its_key(
    program: Program, client: openmsmq.QueueManager
) -> None:
    path = f"{PREFIX}{queue_path('later')}/messages"
    assert keyed(program, "again", path=path)[0] == 404
    client.create_queue(".\\private$\\later")
    assert keyed(program, "again", path=path)[0] == 200


def test_a_key_is_known_to_the_next_console(
    program: Program, manager: Watched, client: openmsmq.QueueManager
) -> None:
    assert keyed(program, "kept")[0] == 200
    (child,) = children(manager.process.pid)
    os.kill(child, signal.SIGKILL)
    wait_until(lambda: children(manager.process.pid) not in ([], [child]))
    wait_until(lambda: manager.get("/healthz").status == 200)
    status, refused = keyed(program, "kept")
    assert (status, refused["error"]["name"]) == (409, "REQUEST_DONE")
    assert keyed(program, "kept", {**MESSAGE, "label": "other"})[0] == 422
    assert len(program.get(f"{AT}/messages")["messages"]) == 1


@pytest.mark.parametrize(
    ("query", "body"),
    [("?dry_run=true", None), ("", {"dry_run": True}), ("", {"lookup_ids": ["1"]}), ("", b"[1]")],
)
def test_what_a_purge_does_not_take_is_refused(
    program: Program, client: openmsmq.QueueManager, query: str, body: Any
) -> None:
    send(client, "stays")
    status, _, content = program.ask("POST", f"{PREFIX}{AT}/purge{query}", body)
    assert status == 400, content
    assert len(program.get(f"{AT}/messages")["messages"]) == 1


def test_messages_that_are_gone_do_not_keep_others_from_being_removed(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, "one", "two")
    ids = [message["lookup_id"] for message in program.get(f"{AT}/messages")["messages"]]
    chosen = {"lookup_ids": [ids[0], "7", ids[1]], "for_good": True}
    assert program.post(f"{AT}/remove", chosen) == {"count": 2}
    assert noted(program, "remove_messages")[-1]["count"] == 2
    refused = program.post(f"{AT}/remove", chosen, 404)["error"]
    assert refused["name"] == "MQ_ERROR_MESSAGE_NOT_FOUND"


def test_there_is_nothing_to_receive_from_an_empty_queue(
    program: Program, client: openmsmq.QueueManager
) -> None:
    assert program.post(f"{AT}/receive", status=404)["error"]["name"] == "MQ_ERROR_IO_TIMEOUT"


def test_a_token_is_made_for_a_known_principal_and_a_new_name_only(
    program: Program, manager: Watched
) -> None:
    unknown = {"name": "new", "principal": "user:nobody-has-this-name"}
    refused = program.post("/tokens", unknown, 422)["error"]
    assert refused["name"] == "PRINCIPAL_UNKNOWN"
    assert refused["detail"].endswith("this machine has no user 'nobody-has-this-name'")
    taken = program.post("/tokens", {"name": "all", "principal": "user:root"}, 409)["error"]
    assert taken["name"] == "TOKEN_EXISTS"
    # A file may name anybody.
    token = add_token(manager, "gone", "reader", "--principal", unknown["principal"])
    status, _, content = Program(manager, token).ask("GET", f"{PREFIX}/queues")
    assert (status, json.loads(content)["error"]["name"]) == (422, "PRINCIPAL_UNKNOWN")


def test_another_method_is_told_those_that_are_taken(program: Program) -> None:
    status, headers, _ = program.ask("PUT", f"{PREFIX}{AT}")
    assert (status, headers["allow"]) == (405, "DELETE, GET, PATCH")


def test_the_audit_log_has_who_got_which_right(
    program: Program, client: openmsmq.QueueManager
) -> None:
    program.post(f"{AT}/permissions/grant", {"principal": "user:nobody", "rights": ["peek"]})
    target = "private$\\orders principal=user:nobody rights=peek"
    assert [(each["target"], each["result"]) for each in noted(program, "grant")[-2:]] == [
        (target, "begun"),
        (target, "done"),
    ]
    program.ask("PATCH", PREFIX + AT, {"journal": False, "base_priority": 0})
    assert (
        noted(program, "change_queue")[-1]["target"]
        == "private$\\orders journal=False base_priority=0"
    )


def test_the_audit_log_has_a_message_by_number_and_never_its_body(
    program: Program, manager: Watched, client: openmsmq.QueueManager
) -> None:
    program.post(f"{AT}/messages", MESSAGE)
    entry = noted(program, "send_message")[-1]
    assert (entry["count"], entry["job"]) == (1, "")
    assert entry["target"] == "private$\\orders"
    assert "a secret body" not in (manager.data / "console" / "audit.jsonl").read_text()


def test_the_audit_log_has_the_end_of_a_job(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, *(f"m{number}" for number in range(20)))
    sources = ["private$\\orders"]
    body = {"kind": "copy", "sources": sources, "target": "private$\\orders;aside", "rate": 10}
    job = program.post("/jobs", body)
    assert job["state"] == "running"
    of_job = [entry for entry in noted(program, "begin_job") if entry["job"] == job["id"]]
    assert [(each["result"], each["count"]) for each in of_job] == [("begun", 20)]
    assert of_job[0]["target"] == (
        "private$\\orders;aside kind=copy sources=private$\\orders rate=10.0"
    )
    wait_until(lambda: program.get(f"/jobs/{job['id']}")["state"] == "finished")
    wait_until(lambda: noted(program, "begin_job")[-1]["result"] == "done")
    assert noted(program, "begin_job")[-1]["job"] == job["id"]


def test_the_audit_log_has_who_signed_in_and_out(program: Program, manager: Watched) -> None:
    def post(path: str, text: str = "", **headers: str) -> tuple[int, dict[str, str], bytes]:
        return visitor.ask("POST", path, text.encode(), **headers)

    visitor = Program(manager, "")
    visitor.headers = {"Origin": f"http://{manager.console}"}
    token = add_token(manager, "ann", "reader")
    status, answered, _ = post("/sign-in", f"token={token}")
    assert status == 303
    visitor.headers["Cookie"] = answered["set-cookie"].partition(";")[0]
    page = visitor.ask("GET", "/settings")[2].decode()
    (csrf,) = re.findall(r'name="csrf" content="([^"]+)"', page)
    assert post("/sign-out", **{"X-CSRF-Token": csrf})[0] == 303
    (signed_in,) = noted(program, "sign_in")
    (signed_out,) = noted(program, "sign_out")
    for entry in (signed_in, signed_out):
        assert (entry["credential"], entry["role"], entry["result"]) == ("ann", "reader", "done")
        assert entry["address"] == manager.console.rpartition(":")[0]
    assert token not in (manager.data / "console" / "audit.jsonl").read_text()


def test_guessing_tokens_does_not_fill_the_audit_log(program: Program, manager: Watched) -> None:
    visitor = Program(manager, "")
    visitor.headers = {}
    for number in range(NOTED_REFUSALS + 5):
        assert visitor.ask("GET", f"/sign-in/guess{number}")[0] == 401
    refused = [entry for entry in noted(program, "sign_in") if entry["result"] == "refused"]
    assert len(refused) == NOTED_REFUSALS
    assert {(entry["principal"], entry["role"]) for entry in refused} == {("", "")}
    assert "guess" not in (manager.data / "console" / "audit.jsonl").read_text()
