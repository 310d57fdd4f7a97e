"""Endpoints of the HTTP API against a real queue manager."""

import html
import http.client
import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from tests.admin.callers import PREFIX, Program, add_token, queue_path
from tests.admin.console_process import Watched, wait_until, watched
from tests.admin.orders import ORDERS, empty_orders, send
from tests.cli.running import run

import openmsmq
from openmsmq.admin.api.table import ENDPOINTS
from openmsmq.admin.care_desk import MOST_RUNNING

AT = queue_path("orders")


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("endpoints")
    config = folder / "qm.toml"
    config.write_text("audit_reads = true\n")
    with watched(folder, "--name", "alpha", "--config", str(config)) as running:
        yield running


@pytest.fixture(scope="module")
def program(manager: Watched) -> Program:
    return Program(manager, add_token(manager, "all"))


@pytest.fixture
def client(manager: Watched) -> Iterator[openmsmq.QueueManager]:
    with empty_orders(manager) as connected:
        yield connected


def test_readers_and_their_waiting_reads_are_listed(
    program: Program, client: openmsmq.QueueManager
) -> None:
    with client.open_queue(ORDERS, "receive", share="deny_receive"):
        client.flush()
        (reader,) = [r for r in program.get(f"{AT}/readers")["readers"] if r["exclusive"]]
    assert (reader["access"], reader["principal"]) == ("receive", "user:root")
    assert program.get(f"{AT}/readers?filter=nobody+like+that")["readers"] == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"priority": 99}, "priority: 99 is not in 0..7"),
        ({"time_to_be_received": -4}, "time_to_be_received: -4 seconds"),
        ({"correlation_id": "nothing"}, "not a message identifier"),
        ({"app_specific": 1 << 70}, "app_specific"),
        ({"body_base64": "%%%"}, "base64"),
    ],
)
def test_a_message_that_cannot_be_sent_is_refused_with_the_property(
    program: Program, client: openmsmq.QueueManager, values: dict[str, Any], words: str
) -> None:
    refused = program.post(f"{AT}/messages", values, status=400)["error"]
    assert refused["name"] == "BAD_MESSAGE"
    assert words in refused["detail"]
    if "body_base64" in values:
        send(client, "original")
        (message,) = program.get(f"{AT}/messages")["messages"]
        copy = {"to": "private$\\orders", **values}
        path = f"{AT}/messages/{message['lookup_id']}/copy"
        assert program.post(path, copy, status=400)["error"]["name"] == "BAD_MESSAGE"


def test_a_number_that_no_request_can_have_is_refused(program: Program) -> None:
    queue = {"name": "private$\\large", "base_priority": 10**30}
    refused = program.post("/queues", queue, status=422)["error"]
    assert refused["name"] == "MQ_ERROR_INVALID_PARAMETER"


def test_every_plot_of_a_page_has_the_range_that_was_asked_for(program: Program) -> None:
    for span, seconds in (("5m", 300), ("1h", 3600), ("6h", 6 * 3600), ("24h", 24 * 3600)):
        for name in ("rates", "waiting", "disk", "outgoing"):
            content = program.ask("GET", f"/figures/{name}?range={span}")[2]
            begin, end = json.loads(content)["range"]
            assert end - begin == pytest.approx(seconds)
            assert end == pytest.approx(time.time(), abs=60)


FILTERED = [
    ("where=label+~+order", 250),
    ("filter=ORDER", 250),
    ("where=label+~+order&filter=body+of+order", 250),
    ("where=label+~+order&filter=body+of+order+1", 111),
    ("filter=body+of+other", 40),
]


@pytest.mark.parametrize(("query", "matching"), FILTERED)
def test_all_that_match_a_filter_are_those_that_its_job_takes(
    program: Program, client: openmsmq.QueueManager, query: str, matching: int
) -> None:
    send(client, *(f"order {number}" for number in range(250)))
    send(client, *(f"other {number}" for number in range(40)))
    page = program.ask("GET", f"{AT}?{query}")[2].decode()
    found = re.search(r"data-where='([^']*)'", page)
    assert (found is not None) == (matching > 200)
    if found is None:
        assert page.count("<tr id=") == matching
        return
    chosen = {"sources": ["private$\\orders"], "where": json.loads(html.unescape(found[1]))}
    plan = program.post("/jobs", {"kind": "save", **chosen, "dry_run": True})
    assert plan["messages"] == matching
    moved = program.post("/jobs", {"kind": "move", "target": "private$\\orders;done", **chosen})
    assert (moved["messages"], moved["done"]) == (matching, matching)
    program.post(f"{queue_path('orders;done')}/purge")


def test_a_later_page_of_a_list_selects_all_too(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, *(f"order {number}" for number in range(210)))
    first = program.ask("GET", f"{AT}?where=label+~+order")[2].decode()
    (after,) = re.findall(r"after=(\d+)", first)[:1]
    for query, shown in (("", 'data-whole="210"'), ("&where=label+~+order", "data-where='")):
        page = program.ask("GET", f"{AT}?after={after}{query}")[2].decode()
        assert page.count("<tr id=") == 10
        assert shown in page


def test_a_client_is_hung_up_on(program: Program, manager: Watched) -> None:
    before = {each["id"] for each in program.get("/clients")["entries"]}
    stranger = openmsmq.connect(manager.socket)
    after = {each["id"] for each in program.get("/clients")["entries"]}
    newest = min(after - before)
    assert program.post(f"/clients/local/{newest}/hang-up", status=204) is None
    with pytest.raises(openmsmq.MsmqError):
        stranger.status()
    assert newest not in {each["id"] for each in program.get("/clients")["entries"]}
    refused = program.post(f"/sessions/binary/{newest}/hang-up", status=422)
    assert "neither a session nor a client" in refused["error"]["detail"]


def test_clients_have_rates_from_the_samples_that_all_share(
    program: Program, client: openmsmq.QueueManager
) -> None:
    def busy() -> list[dict[str, Any]]:
        send(client, "one", "two")
        entries = program.get("/clients")["entries"]
        return [each for each in entries if each["incoming_messages_per_second"]]

    wait_until(busy)
    (entry,) = busy()
    assert entry["incoming_bytes_per_second"] > entry["incoming_messages_per_second"]
    assert entry["outgoing_messages_per_second"] == 0
    page = Program.ask(program, "GET", "/sessions")[2].decode()
    assert "Bytes/s" in page
    assert re.search(r"<td class=\"num dim wide\">[1-9][\d.]* (B|KiB)</td>", page)


def test_series_have_columns_of_one_length(program: Program, client: object) -> None:
    for path in (f"{AT}/series?range=5m", "/series?range=24h"):
        columns = program.get(path)["columns"]
        assert len({len(column) for column in columns.values()}) == 1
        assert {"time", "messages", "arrived_per_second"} <= columns.keys()


def test_permissions_are_explained_right_by_right(
    program: Program, client: openmsmq.QueueManager
) -> None:
    def may(principal: str, right: str) -> tuple[bool, str]:
        answers = program.get(f"{AT}/permissions/explain?principal={principal}")["answers"]
        (answer,) = [each for each in answers if each["right"] == right]
        return answer["allowed"], answer["reason"]

    client.grant(ORDERS, "user:nobody", ["receive"])
    assert may("user:nobody", "receive")[0]
    client.grant(ORDERS, "user:nobody", ["peek"], deny=True)
    allowed, reason = may("user:nobody", "peek")
    assert not allowed
    assert "user:nobody" in reason
    client.revoke(ORDERS, "user:nobody", ["full"])
    assert not may("user:nobody", "receive")[0]
    assert program.get("/machine/explain?principal=user:nobody")["answers"]
    path = f"{PREFIX}{AT}/permissions/explain?principal=user:no-such-user"
    assert program.ask("GET", path)[0] == 422


def test_delayed_messages_are_listed_delivered_and_cancelled(
    program: Program, client: openmsmq.QueueManager
) -> None:
    queue = client.open_queue(ORDERS, "send")
    for label in ("one", "two", "three"):
        queue.send(openmsmq.Message(b"x", label, delivery="recoverable"), delay=3600)
    client.flush()
    listed = program.get(f"{AT}/delayed")["delayed"]
    assert [each["label"] for each in listed] == ["one", "two", "three"]
    ids = [listed[1]["lookup_id"]]
    assert program.post(f"{AT}/delayed/deliver", {"lookup_ids": ids}) == {"count": 1}
    assert [m["label"] for m in program.get(f"{AT}/messages")["messages"]] == ["two"]
    assert program.post(f"{AT}/delayed/cancel", {}) == {"count": 2}
    assert program.get(f"{AT}/delayed")["delayed"] == []


def test_messages_for_other_machines_can_leave_later(
    program: Program, client: openmsmq.QueueManager
) -> None:
    away = "DIRECT=TCP:127.0.0.98\\private$\\x"
    client.send(away, openmsmq.Message(b"x", "later", delivery="recoverable"), delay=3600)
    client.flush()
    at = "/outgoing/DIRECT=TCP:127.0.0.98%5Cprivate$%5Cx/delayed"
    assert [each["label"] for each in program.get(at)["delayed"]] == ["later"]
    assert program.post(f"{at}/cancel", {}) == {"count": 1}
    assert program.get(at)["delayed"] == []


def test_messages_of_an_outgoing_queue_are_listed_part_by_part(
    program: Program, client: openmsmq.QueueManager
) -> None:
    there = "DIRECT=TCP:127.0.0.99\\private$\\many"
    with client.open_queue(there, "send") as queue:
        queue.send_many(openmsmq.Message(b"x", f"m{number}") for number in range(250))
    path = f"/outgoing/{quote(there, safe='')}/messages"
    labels: list[str] = []
    after = ""
    while after is not None:
        part = program.get(f"{path}?limit=100&after={after}")
        labels += [message["label"] for message in part["messages"]]
        after = part["after"]
    assert labels == [f"m{number}" for number in range(250)]
    found = program.get(f"{path}?filter=label+%3D+m249&sort=-lookup_id&fields=label")
    assert found["messages"] == [{"label": "m249"}]


def test_policies_are_set_and_shown(program: Program, client: object) -> None:
    change = {"receive_error_handling": "hold", "receive_retry_count": 1, "retry_cycle_delay": 60}
    status, _, content = program.ask("PATCH", PREFIX + AT, change)
    assert status == 200
    assert change.items() <= json.loads(content).items()
    program.ask("PATCH", PREFIX + AT, {"receive_error_handling": "none"})


def test_events_come_as_they_happen(program: Program, manager: Watched) -> None:
    host, _, port = manager.console.rpartition(":")
    with closing(http.client.HTTPConnection(host, int(port), timeout=60)) as connection:
        connection.request("GET", f"{PREFIX}/events", headers=program.headers)
        answer = connection.getresponse()
        assert answer.getheader("content-type", "").startswith("text/event-stream")
        manager.run("queue", "create", ".\\private$\\eventful")
        lines: list[bytes] = []
        while not lines or b"eventful" not in lines[-1]:
            lines.append(answer.readline())
        event = json.loads(lines[-1].removeprefix(b"data: "))
        assert event["kind"] == "queue-created"
        assert f"id: {event['number']}\n".encode() in lines


def test_events_go_on_after_the_last_one(program: Program, manager: Watched) -> None:
    host, _, port = manager.console.rpartition(":")
    numbers = []
    headers = dict(program.headers)
    manager.run("queue", "create", ".\\private$\\lasting.1")
    manager.run("queue", "create", ".\\private$\\lasting.2")
    for _ in range(2):
        with closing(http.client.HTTPConnection(host, int(port), timeout=60)) as connection:
            connection.request("GET", f"{PREFIX}/events", headers=headers)
            answer = connection.getresponse()
            while not (line := answer.readline()).startswith(b"id: "):
                pass
            numbers.append(int(line.removeprefix(b"id: ")))
        headers["Last-Event-ID"] = str(numbers[-1])
    assert numbers[1] == numbers[0] + 1
    wrong = {**program.headers, "Last-Event-ID": "x"}
    assert program.ask("GET", f"{PREFIX}/events", **wrong)[0] == 400


def test_events_end_with_the_token(manager: Watched) -> None:
    reader = Program(manager, add_token(manager, "leaver"))
    host, _, port = manager.console.rpartition(":")
    with closing(http.client.HTTPConnection(host, int(port), timeout=60)) as connection:
        connection.request("GET", f"{PREFIX}/events", headers=reader.headers)
        answer = connection.getresponse()
        assert answer.status == 200
        done = run(["console", "token", "remove", "leaver", "--data", str(manager.data)])
        assert done.code == 0, done.err
        manager.run("queue", "create", ".\\private$\\unseen")
        assert b"unseen" not in answer.read()


def test_a_search_streams_what_it_finds_and_stops_with_its_reader(
    program: Program, client: openmsmq.QueueManager, manager: Watched
) -> None:
    send(client, *(f"Order {number}" for number in range(50)))
    _, headers, content = program.ask("GET", f"{PREFIX}/search/stream?text=order+4&queues=*orders")
    assert headers["content-type"].startswith("application/jsonl")
    parts = [json.loads(line) for line in content.splitlines()]
    labels = [hit["message"]["label"] for part in parts for hit in part["hits"]]
    assert labels == ["Order 4", *(f"Order {number}" for number in range(40, 50))]
    assert [part["ended"] for part in parts] == [False] * (len(parts) - 1) + [True]
    assert parts[-1]["looked_at"] == parts[-1]["total"] == 50
    host, _, port = manager.console.rpartition(":")
    for _ in range(12):  # three times as many as may run at a time
        with closing(http.client.HTTPConnection(host, int(port), timeout=60)) as connection:
            path = f"{PREFIX}/search/stream?text=x"
            connection.request("GET", path, headers=program.headers)
            assert connection.getresponse().status in (200, 429)
    wait_until(lambda: program.ask("GET", f"{PREFIX}/search?text=x")[0] == 200)


def test_case_counts_where_it_is_asked_for(program: Program, client: openmsmq.QueueManager) -> None:
    send(client, "Alpha", "alpha")
    found = program.get("/search?text=Alpha&case=true&queues=*orders")["hits"]
    assert [hit["message"]["label"] for hit in found] == ["Alpha"]
    assert len(program.get("/search?text=Alpha&queues=*orders")["hits"]) == 2


def test_messages_are_listed_by_a_filter_part_by_part(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, *(f"{'even' if number % 2 == 0 else 'odd'} {number}" for number in range(10)))
    first = program.get(f"{AT}/messages?filter=label+~+even&limit=3&fields=label,lookup_id")
    assert [m["label"] for m in first["messages"]] == ["even 0", "even 2", "even 4"]
    rest = program.get(f"{AT}/messages?filter=label+~+even&after={first['after']}")
    assert [m["label"] for m in rest["messages"]] == ["even 6", "even 8"]
    assert rest["after"] is None


def test_messages_are_listed_from_the_end_part_by_part(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, *(f"{number}" for number in range(5)))
    for words in ("", "&filter=priority+<+8"):
        labels, after = [], ""
        while after is not None:
            part = program.get(f"{AT}/messages?sort=-lookup_id&limit=2&after={after}{words}")
            labels += [message["label"] for message in part["messages"]]
            after = part["after"]
        assert labels == ["4", "3", "2", "1", "0"]
    refused = program.ask("GET", f"{PREFIX}{AT}/messages?sort=label")
    assert refused[0] == 400


def test_a_search_goes_on_where_the_last_answer_ended(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, *(f"sought {number}" for number in range(5)))
    labels, after = [], ""
    while after is not None:
        path = f"/search?text=sought&queues=*orders&limit=2&after={quote(after)}"
        part = program.get(path)
        labels += [hit["message"]["label"] for hit in part["hits"]]
        after = part["after"]
    assert labels == [f"sought {number}" for number in range(5)]
    gone = program.ask("GET", f"{PREFIX}/search?text=sought&after=1+private$%5Cnowhere")
    assert gone[0] == 409


def test_dead_letters_are_listed_sorted_part_by_part(
    program: Program, client: openmsmq.QueueManager
) -> None:
    with client.open_queue(ORDERS, "send") as queue:
        for label in ("", "b", "a"):
            message = openmsmq.Message("x", label=label, dead_letter=True, time_to_be_received=1)
            queue.send(message)
    path = "/dead-letters?by=label&limit=1"
    wait_until(lambda: program.get(path)["total"] == 3)
    for sort, wanted in (("key", ["", "a", "b"]), ("-key", ["b", "a", ""])):
        first = program.get(f"{path}&sort={sort}")
        second = program.get(f"{path}&sort={sort}&after={first['after']}")
        third = program.get(f"{path}&sort={sort}&after={second['after']}")
        found = [part["groups"][0]["key"] for part in (first, second, third)]
        assert (found, third["after"]) == (wanted, None)
    program.post("/queues/system$;DEADLETTER/purge")


def test_results_of_a_job_are_filtered_and_sorted(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, "b", "other", "a", "c")
    job = program.post("/jobs", {"kind": "save", "sources": ["private$\\orders"]})
    path = f"/jobs/{job['id']}/results?fields=label&limit=2"

    def labels(query: str) -> list[list[str]]:
        parts, after = [], ""
        while after is not None:
            part = program.get(f"{path}{query}&after={after}")
            parts.append([each["label"] for each in part["results"]])
            after = part["after"]
        return parts

    assert labels("") == [["b", "other"], ["a", "c"]]
    assert labels("&sort=-label") == [["other", "c"], ["b", "a"]]
    assert labels("&filter=OTHER") == labels("&filter=OTHER&sort=label") == [["other"]]
    refused = program.ask("GET", f"{PREFIX}{path}&sort=label&filter=other&after=1")
    assert refused[0] == 409
    assert program.ask("GET", f"{PREFIX}{path}&sort=colour")[0] == 400


def test_the_audit_log_is_sorted_and_continued(
    program: Program, client: openmsmq.QueueManager
) -> None:
    for _ in range(3):
        program.post(f"{AT}/purge")
    path = "/audit?filter=purge_queue&sort=time&limit=2"
    entries, after = [], ""
    while after is not None:
        part = program.get(f"{path}&after={after}")
        entries += part["entries"]
        after = part["after"]
    keys = [(each["number"], each["result"]) for each in entries]
    assert len(set(keys)) == len(keys) >= 6
    assert [each["time"] for each in entries] == sorted(each["time"] for each in entries)


def test_the_page_of_the_audit_log_goes_on_to_its_beginning(
    program: Program, client: openmsmq.QueueManager
) -> None:
    program.post(f"{AT}/purge")
    first = program.get("/audit?sort=time&limit=1")["entries"][0]
    for _ in range(100):
        program.post(f"{AT}/purge")
    address: str | None = "/audit"
    shown = []
    while address is not None:
        page = program.ask("GET", address)[2].decode()
        shown.append(page.count("<tr>") - 1)
        older = re.search(r'href="(/audit[^"]*)">Older<', page)
        address = None if older is None else html.unescape(older[1])
    assert shown[0] == 200
    assert sum(shown) == len(program.get("/audit?limit=10000")["entries"])
    assert first["time"][11:19] in page


@pytest.mark.parametrize(
    "path", ["/status", "/route?destination=.%5Cprivate$%5Corders", "/sessions", "/clients"]
)
def test_an_answer_has_the_properties_of_its_type(program: Program, path: str) -> None:
    (kind,) = (each.result for each in ENDPOINTS if each.path == path.partition("?")[0])
    found = program.get(path)
    assert json.loads(msgspec.json.encode(msgspec.convert(found, kind))) == found


def test_explanations_of_rights_are_lists_like_others(
    program: Program, client: openmsmq.QueueManager
) -> None:
    for path in (f"{AT}/permissions/explain", "/machine/explain"):
        every = [each["right"] for each in program.get(f"{path}?sort=-right")["answers"]]
        assert every == sorted(every, reverse=True)
        rest = program.get(f"{path}?sort=-right&after={every[0]}&limit=1")["answers"]
        assert [each["right"] for each in rest] == every[1:2]


def test_downloads_of_a_message_are_named_from_its_number(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, "report.exe")
    (message,) = program.get(f"{AT}/messages")["messages"]
    number = message["lookup_id"]
    for part, word in (("body", "body"), ("packet", "message")):
        headers = program.ask("GET", f"{PREFIX}{AT}/messages/{number}/{part}")[1]
        assert headers["content-disposition"] == f'attachment; filename="{word}-{number}.bin"'


def test_a_save_is_downloaded_and_loaded_again(
    program: Program, client: openmsmq.QueueManager, manager: Watched
) -> None:
    send(client, "one", "two")
    save = {"kind": "save", "sources": ["private$\\orders"]}
    assert program.post("/jobs", {**save, "dry_run": True})["messages"] == 2
    job = program.post("/jobs", save)
    assert (job["state"], job["done"], job["file"]) == ("finished", 2, True)
    status, headers, content = program.ask("GET", f"{PREFIX}/jobs/{job['id']}/file")
    assert (status, content[:5]) == (200, b"OMQ1\n")
    assert headers["content-disposition"] == f'attachment; filename="job-{job["id"]}.omq"'
    target = "target=private$%5Corders"
    assert program.post(f"/jobs/load?{target}&dry_run=true", content)["done"] == 2
    with client.open_queue(ORDERS, "receive") as queue:
        queue.purge()
    loaded = program.post(f"/jobs/load?{target}&filter=label+=+two", content)
    assert (loaded["kind"], loaded["done"]) == ("load", 1)
    assert [m["label"] for m in program.get(f"{AT}/messages")["messages"]] == ["two"]
    refused = program.post(f"/jobs/load?{target}", b"nonsense", status=422)
    assert "begins with OMQ1" in refused["error"]["detail"]
    assert str(manager.data) not in json.dumps(refused)
    other = Program(manager, add_token(manager, "other", "operator", "--principal", "user:nobody"))
    assert other.ask("GET", f"{PREFIX}/jobs/{job['id']}/file")[0] == 403


@pytest.mark.parametrize("form", ["omq", "jsonl"])
def test_an_export_can_be_loaded_exactly(
    program: Program, client: openmsmq.QueueManager, form: str
) -> None:
    send(client, "first", "=second")
    before = [m.packet for m in client.open_queue(ORDERS, "peek").cursor()]
    _, headers, content = program.ask("GET", f"{AT}/export.{form}")
    assert headers["content-disposition"] == f'attachment; filename="messages.{form}"'
    with client.open_queue(ORDERS, "receive") as queue:
        queue.purge()
    assert program.post("/jobs/load?target=private$%5Corders", content)["done"] == 2
    after = list(client.open_queue(ORDERS, "peek").cursor())
    assert [m.label for m in after] == ["first", "=second"]
    assert len(before) == 2
    _, _, table = program.ask("GET", f"{AT}/export.csv")
    assert b",'=second," in table


def test_lists_are_filtered_sorted_and_continued(program: Program, manager: Watched) -> None:
    for name in ("b", "a", "c"):
        add_token(manager, f"listed-{name}", "reader")
    path = "/tokens?filter=LISTED&sort=-name&limit=2"
    names = [each["name"] for each in program.get(path)["tokens"]]
    assert names == ["listed-c", "listed-b"]
    rest = program.get(f"{path}&after=listed-b")["tokens"]
    assert [each["name"] for each in rest] == ["listed-a"]
    assert program.ask("GET", f"{PREFIX}{path}&after=gone")[0] == 409
    assert program.ask("GET", f"{PREFIX}/tokens?sort=colour")[0] == 400
    assert program.ask("GET", f"{PREFIX}/tokens?limit=0")[0] == 400


def test_a_list_of_queues_goes_on_after_one_that_was_deleted(
    program: Program, manager: Watched
) -> None:
    for name in ("list1", "list2", "list3"):
        manager.run("queue", "create", f".\\private$\\{name}")
    first = program.get("/queues?filter=list&limit=2")
    manager.run("queue", "delete", ".\\private$\\list2", "--yes")
    rest = program.get(f"/queues?filter=list&after={first['after'].replace(chr(92), '%5C')}")
    assert [each["name"] for each in rest["queues"]] == ["private$\\list3"]


def test_who_looked_at_which_message_is_noted(
    program: Program, client: openmsmq.QueueManager, manager: Watched
) -> None:
    send(client, "private")
    (message,) = program.get(f"{AT}/messages")["messages"]
    program.get(f"{AT}/messages/{message['lookup_id']}")
    log = (manager.data / "console" / "audit.jsonl").read_text().splitlines()
    entry = json.loads(log[-1])
    assert entry["action"] == "read_message"
    assert (entry["target"], entry["filter"]) == ("private$\\orders", message["lookup_id"])
    assert "body of private" not in "\n".join(log)


def test_what_a_principal_may_not_see_is_nowhere(program: Program, manager: Watched) -> None:
    manager.run("queue", "create", ".\\private$\\hidden.one")
    for principal in ("everyone", "authenticated-users"):
        manager.run("queue", "revoke", ".\\private$\\hidden.one", principal, "full")
    token = add_token(manager, "stranger", "administrator", "--principal", "user:nobody")
    stranger = Program(manager, token)
    # Pages show samples: only what others can see there can be hidden.
    wait_until(lambda: b"hidden.one" in program.ask("GET", "/queues")[2])
    for path in ("/", "/queues", "/palette?text=hidden", f"{AT}", "/api/v1/queues"):
        status, _, content = stranger.ask("GET", path)
        assert status == 200
        assert b"hidden.one" not in content, path
    for name in ("queue", "waiting"):
        assert program.ask("GET", f"/figures/{name}?queue=private$%5Chidden.one")[0] == 200
        status, _, _ = stranger.ask("GET", f"/figures/{name}?queue=PRIVATE$%5Chidden.one")
        assert status == 404
    job = program.post("/jobs", {"kind": "save", "sources": ["private$\\hidden.one"]})["id"]
    assert job in str(program.get("/jobs"))
    assert job not in str(stranger.get("/jobs"))
    assert [stranger.ask("GET", f"{at}/jobs/{job}")[0] for at in ("", PREFIX)] == [404, 404]


def test_results_of_a_job_are_for_those_who_may_look_at_its_messages(
    program: Program, manager: Watched, client: openmsmq.QueueManager
) -> None:
    send(client, "a label of others")
    job = program.post("/jobs", {"kind": "save", "sources": ["private$\\orders"]})["id"]
    token = add_token(manager, "nosy", "operator", "--principal", "user:nobody")
    nosy = Program(manager, token)
    assert job in str(nosy.get("/jobs"))
    for path in (f"{PREFIX}/jobs/{job}/results", f"/jobs/{job}"):
        status, _, content = nosy.ask("GET", path)
        assert status == 403
        assert b"a label of others" not in content
        assert b"needs the right peek" in content
    client.grant(ORDERS, "user:nobody", ["peek"])
    assert nosy.get(f"/jobs/{job}/results")["results"][0]["label"] == "a label of others"


def test_the_machine_goes_offline_and_comes_back(program: Program) -> None:
    assert program.post("/machine/offline") == {"online": False}
    assert program.get("/status")["online"] is False
    assert program.post("/machine/online") == {"online": True}
    assert "reloaded" in program.post("/reload")
    route = program.get("/route?destination=DIRECT=TCP:127.0.0.3%5Cprivate$%5Cx")
    assert route["host"] == "127.0.0.3"


def test_a_token_for_some_queues_does_not_reach_others_by_longer_names(
    manager: Watched, client: object
) -> None:
    token = add_token(manager, "shop", "operator", "--queue", "private$\\shop.*")
    shop = Program(manager, token)
    name = "private$%5Cshop.a,DIRECT=OS:.%5Cprivate$%5Corders"
    assert shop.ask("POST", f"{PREFIX}/queues/{name}/messages", {"body": "x"})[0] == 403
    for path in ("/outgoing", "/sessions", "/transactions", "/trace/x"):
        assert shop.ask("GET", PREFIX + path)[0] == 403


def test_a_token_for_some_queues_traces_nothing(
    manager: Watched, program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, "traced label")
    identifier = program.get(f"{AT}/messages")["messages"][0]["id"]
    assert b"traced label" in program.ask("GET", f"/find?id={quote(identifier, safe='')}")[2]
    shop = Program(manager, add_token(manager, "tracer", "operator", "--queue", "private$\\shop.*"))
    _, _, content = shop.ask("GET", f"/find?id={quote(identifier, safe='')}")
    assert b"traced label" not in content
    assert b"about the whole queue manager" in content


def test_a_search_is_over_the_queues_that_are_named(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, "named")
    if not client.queue_exists(".\\private$\\second"):
        client.create_queue(".\\private$\\second").send(openmsmq.Message(b"x", "named too"))
        client.flush()
    found = program.get("/search?filter=label+~+named&queues=private$%5Corders")["hits"]
    assert [hit["queue"] for hit in found] == ["private$\\orders"]
    both = "queues=private$%5CSECOND&queues=alpha%5Cprivate$%5Cord*"
    found = program.get(f"/search?filter=label+~+named&{both}")["hits"]
    assert {hit["queue"] for hit in found} == {"private$\\orders", "private$\\second"}
    found = program.get("/search?filter=label+~+named&queues=system$;DEADLETTER")["hits"]
    assert found == []


def test_a_job_stops_goes_on_and_is_undone(program: Program, client: openmsmq.QueueManager) -> None:
    send(client, *(f"m{number}" for number in range(4)))
    sources = ["private$\\orders"]
    job = program.post(
        "/jobs", {"kind": "move", "sources": sources, "target": "private$\\orders;aside"}
    )
    assert job["done"] == 4
    results = program.get(f"/jobs/{job['id']}/results?limit=3")
    assert [len(results["results"]), results["after"]] == [3, "3"]
    assert len(program.get(f"/jobs/{job['id']}/results?after=3")["results"]) == 1
    assert program.post(f"/jobs/{job['id']}/undo")["undone"] == 4
    assert len(program.get(f"{AT}/messages")["messages"]) == 4


def test_slow_jobs_delay_nothing_else(program: Program, client: openmsmq.QueueManager) -> None:
    send(client, "one", "two")
    slow = {"kind": "copy", "sources": ["private$\\orders"], "target": "private$\\orders;aside"}
    jobs = [program.post("/jobs", {**slow, "rate": 0.001})["id"] for _ in range(MOST_RUNNING)]
    try:
        assert program.ask("POST", f"{PREFIX}/jobs", slow)[0] == 429
        assert len(program.get("/search?text=two&queues=*orders")["hits"]) == 1
        states = {job["id"]: job["state"] for job in program.get("/jobs")["jobs"]}
        assert {states[job] for job in jobs} == {"running"}
    finally:
        stopped = [program.post(f"/jobs/{job}/stop")["state"] for job in jobs]
    assert set(stopped) == {"stopped"}


def test_a_large_body_is_shown_in_parts_that_have_all_of_it(
    program: Program, client: openmsmq.QueueManager
) -> None:
    queue = client.open_queue(ORDERS, "send")
    queue.send(openmsmq.Message("".join(f"line {n}\n" for n in range(60_000)).encode(), "large"))
    client.flush()
    (message,) = program.get(f"{AT}/messages")["messages"]
    seen, part = 0, "0"
    began = time.monotonic()
    while part:
        path = f"{AT}/messages/{message['lookup_id']}?as=text&part={part}"
        text = program.ask("GET", path)[2].decode()
        seen += text.count('<span class="l">line ')
        found = re.search(r"[?;&]part=(\d+)[^>]*>Next part", text)
        part = found[1] if found else ""
    assert seen == 60_000
    assert time.monotonic() - began < 60


def test_what_is_wrong_in_definitions_is_named_with_its_line(
    program: Program, client: openmsmq.QueueManager
) -> None:
    del client
    text = "[[queues]]\npath = 'private$\\orders'\n"
    for more, line in (
        ("quotum = 1", "definitions.toml:3: queues[0].quotum: is not a key that is known here"),
        (
            "transactional = true",
            "definitions.toml:3: queues[0].transactional: private$\\orders is",
        ),
    ):
        status, _, content = program.ask(
            "POST", f"{PREFIX}/definitions/diff", {"text": text + more}
        )
        error = json.loads(content)["error"]
        assert status == 422
        assert error["detail"].startswith(line)
        assert "nothing was changed" in error["cause"]
        assert error["remedy"]


def test_a_wrong_id_is_refused_with_how_ids_look(program: Program) -> None:
    status, _, content = program.ask("GET", f"{PREFIX}/trace/nothing")
    error = json.loads(content)["error"]
    assert (status, error["name"]) == (400, "BAD_ID")
    assert "{01234567-89AB-CDEF-0123-456789ABCDEF}\\165537" in error["remedy"]


def test_a_dry_run_is_noted_as_one(program: Program, client: openmsmq.QueueManager) -> None:
    send(client, "one", "two")
    save = {"kind": "save", "sources": ["private$\\orders"], "dry_run": True}
    text = "[[queues]]\npath = 'private$\\of-a-file'\n[[queues]]\npath = 'private$\\and-another'\n"
    for path, body in (("/jobs", save), ("/definitions/diff", {"text": text})):
        program.post(path, body)
        entries = program.get("/audit?limit=2")["entries"]
        assert [entry["result"] for entry in entries] == ["dry run", "begun"]
        assert entries[0]["count"] == 2


def test_no_file_is_left_of_a_dry_run(program: Program, manager: Watched) -> None:
    folder: Path = manager.data / "console" / "files"
    before = set(folder.iterdir()) if folder.exists() else set()
    program.post("/jobs/load?target=private$%5Corders&dry_run=true", b"OMQ1\n" + bytes(8))
    assert set(folder.iterdir()) == before


def test_two_operators_who_retry_the_same_dead_letters_send_each_once(
    program: Program, client: openmsmq.QueueManager
) -> None:
    queue = client.open_queue(ORDERS, "send")
    for number in range(20):
        message = openmsmq.Message(b"x", f"late {number}", delivery="recoverable")
        message.time_to_be_received, message.dead_letter = 0, True
        queue.send(message)
    client.flush()
    wait_until(lambda: program.get("/status")["dead_letters"] == 20)
    retry = {"kind": "retry", "sources": ["system$;DEADLETTER"], "limits": "lift"}
    jobs = []
    with ThreadPoolExecutor(2) as pool:
        begun = [pool.submit(program.post, "/jobs", retry) for _ in range(2)]
        jobs = [each.result()["id"] for each in begun]

    def ended() -> list[dict[str, object]]:
        found = [program.get(f"/jobs/{job}") for job in jobs]
        return found if all(each["state"] == "finished" for each in found) else []

    wait_until(ended)
    assert sum(each["done"] for each in ended()) == 20  # type: ignore[misc]  # numbers
    assert len(program.get(f"{AT}/messages")["messages"]) == 20
    assert program.get("/status")["dead_letters"] == 0


def test_locked_messages_are_shown_before_and_after_others(
    program: Program, client: openmsmq.QueueManager
) -> None:
    name, at = r".\private$\locked", queue_path("locked")
    client.create_queue(name, transactional=True)
    with client.transaction() as sending, client.open_queue(name, "send") as queue:
        for label in ("first", "second", "third"):
            queue.send(openmsmq.Message(f"body of {label}", label), sending)
    first, second, third = (m["lookup_id"] for m in program.get(f"{at}/messages")["messages"])
    with client.transaction() as transaction, client.open_queue(name, "receive") as queue:
        for number in (first, third):
            queue.receive_by_lookup_id(int(number), transaction=transaction)
        page = program.ask("GET", f"{at}/messages/{second}")[2].decode()
        for number, word in ((first, "before"), (third, "after")):
            assert re.search(rf'/messages/{number}\?view=body" aria-label="Message {word}', page)
        locked = program.ask("GET", f"{at}/messages/{first}")[2].decode()
        assert "body of first" in locked
        assert f"/messages/{second}?" in locked
        assert program.get(f"{at}/messages/{third}")["label"] == "third"
        transaction.abort()
    client.delete_queue(name)


def test_empty_journals_of_queues_that_keep_one_are_listed(
    program: Program, client: openmsmq.QueueManager
) -> None:
    for name, journal in (("keeps", True), ("forgets", False)):
        client.create_queue(rf".\private$\{name}", journal=journal)
    try:
        wait_until(lambda: b"keeps" in program.ask("GET", "/journals")[2])
        page = program.ask("GET", "/journals")[2].decode()
        assert "private$%5Ckeeps%3BJOURNAL" in page or "private$%5Ckeeps;JOURNAL" in page
        assert "forgets" not in page
    finally:
        for name in ("keeps", "forgets"):
            client.delete_queue(rf".\private$\{name}")


def test_the_cause_of_dead_letters_is_said_once(
    program: Program, client: openmsmq.QueueManager
) -> None:
    with client.open_queue(ORDERS, "send") as queue:
        queue.send(openmsmq.Message("x", dead_letter=True, time_to_be_received=1))
    wait_until(lambda: program.get("/dead-letters")["total"] == 1)
    (group,) = program.get("/dead-letters")["groups"]
    key = group["reason"].rpartition("(")[2].rstrip(")")
    for path in ("/dead-letters", f"/dead-letters?open={key}"):
        page = html.unescape(program.ask("GET", path)[2].decode())
        assert page.count(group["cause"]) == 1
    assert "Likely cause" in page
    program.post("/queues/system$;DEADLETTER/purge")


def test_the_pane_has_the_way_of_a_message_and_sends_copies(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, "order 1")
    (message,) = program.get(f"{AT}/messages")["messages"]
    pane = program.ask("GET", f"{AT}?message={message['lookup_id']}&view=way")[2].decode()
    assert '<ol class="way">' in pane
    assert "Waits in orders" in pane
    assert 'data-open="send-copy"' in pane
    assert f"POST {PREFIX}{AT}/messages/{message['lookup_id']}/copy" in pane
    # The page of a message has its way beside every view.
    page = program.ask("GET", f"{AT}/messages/{message['lookup_id']}?view=way")[2].decode()
    assert page.count('<ol class="way">') == 1
    assert "body of order 1" in page


def test_every_figure_of_the_overview_has_its_last_hour(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, "waits")

    def lines() -> list[bool]:
        page = program.ask("GET", "/")[2].decode()
        return ["<svg" in part and "spark" in part for part in page.split('class="kpi')[1:]]

    wait_until(lambda: [each for each in lines() if each] == [True] * 6)


def test_a_message_that_was_received_between_list_and_click_is_gone(
    program: Program, client: openmsmq.QueueManager
) -> None:
    send(client, "fleeting")
    (message,) = program.get(f"{AT}/messages")["messages"]
    with client.open_queue(ORDERS, "receive") as queue:
        queue.receive(timeout=5)
    client.flush()
    path = f"{AT}/messages/{message['lookup_id']}"
    assert program.ask("GET", PREFIX + path)[0] == 404
    assert b"The message is gone" in program.ask("GET", path)[2]
    remove = {"kind": "remove", "sources": ["private$\\orders"]}
    job = program.post("/jobs", {**remove, "lookup_ids": [message["lookup_id"]]})
    assert (job["done"], job["messages"]) == (0, 0)


def test_a_queue_that_was_made_again_has_no_history_of_the_one_before(
    program: Program, manager: Watched
) -> None:
    path = ".\\private$\\again"
    for _ in range(2):
        manager.run("queue", "create", path)
        manager.run("send", path, "--body", "x")
        assert program.get(f"{queue_path('again')}")["arrived_messages"] == 1
        manager.run("queue", "delete", path, "--yes")
        assert program.ask("GET", PREFIX + queue_path("again"))[0] == 404
