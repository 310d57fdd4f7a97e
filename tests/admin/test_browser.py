"""The console in a real browser."""

import contextlib
import json
import re
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect
from tests.admin.browser import Visitor, needs_chromium, visiting
from tests.admin.console_process import Watched, wait_until, watched
from tests.admin.hostile import BODIES, TEXTS
from tests.cli.running import Manager, run

import openmsmq

expect.set_options(timeout=30_000)
pytestmark = [needs_chromium, pytest.mark.timeout(300)]
ORDERS = ".\\private$\\orders"
PAYMENTS = ".\\private$\\payments"
HOSTILE = ".\\private$\\hostile"
DEAD = "/dead-letters?open=MQMSG_CLASS_NACK_RECEIVE_TIMEOUT"


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched(tmp_path_factory.mktemp("browser"), "--name", "alpha") as running:
        with openmsmq.connect(running.socket) as client:
            fill(client)
        yield running


def fill(client: openmsmq.QueueManager) -> None:
    """Messages of every kind: waiting, dead, on their way, and hostile ones."""
    orders = client.create_queue(ORDERS, label="Orders from the shop")
    payments = client.create_queue(PAYMENTS, transactional=True, journal=True)
    client.create_queue(".\\private$\\nightly.export")
    hostile = client.create_queue(HOSTILE, label=TEXTS[0])
    body = '{"order": 4711, "amount": {"value": 129.90, "currency": "EUR"}, "note": "<b>"}'
    for number in range(30):
        message = openmsmq.Message(body.encode(), f"Payment captured {number}")
        payments.send(message, transaction="single")
    for number in range(3):
        payments.send(
            openmsmq.Message(b"later", f"Reminder {number}"), transaction="single", delay=3600
        )
    for number in range(3):
        orders.send(
            openmsmq.Message(
                b"late",
                f"Order {number}",
                time_to_be_received=1,
                dead_letter=True,
                delivery="recoverable",
            )
        )
    for text in TEXTS:
        label = text.replace("\x00", "")[:249]
        hostile.send(openmsmq.Message(text.encode("utf-8", "replace"), label))
    for content in BODIES:
        hostile.send(openmsmq.Message(content, "body"))
    away = client.open_queue("DIRECT=TCP:127.0.0.99\\private$\\x", "send")
    away.send(openmsmq.Message(b"hello", TEXTS[1]))
    client.flush()


@pytest.fixture(scope="module")
def visitor(manager: Watched) -> Iterator[Visitor]:
    with visiting(manager) as found:
        found.sign_in(manager)
        found.page.wait_for_function(
            "async () => (await (await fetch('/api/v1/status')).json()).dead_letters === 3"
        )
        yield found


PAGES = {
    "overview": "/",
    "queues": "/queues",
    "queue": "/queues/private$%5Cpayments",
    "empty": "/queues/private$%5Cnightly.export",
    "nothing-found": "/queues/private$%5Cpayments?filter=Paymnet",
    "activity": "/queues/private$%5Cpayments/activity",
    "subqueues": "/queues/private$%5Cpayments/subqueues",
    "delayed": "/queues/private$%5Cpayments/delayed",
    "permissions": "/queues/private$%5Cpayments/permissions?principal=user:nobody",
    "queue-settings": "/queues/private$%5Cpayments/settings",
    "gone": "/queues/private$%5Cpayments/messages/1",
    "deadletters": DEAD,
    "retry": f"{DEAD}&retry=1",
    "outgoing": "/outgoing",
    "journals": "/journals",
    "transactions": "/transactions",
    "sessions": "/sessions",
    "find": "/find?text=captured",
    "find-nothing": "/find?text=never+written",
    "trace": "/find?id=%7B00000000-0000-0000-0000-000000000001%7D%5C1",
    "link": "/outgoing/DIRECT=TCP:127.0.0.99%5Cprivate$%5Cx",
    "jobs": "/jobs",
    "definitions": "/definitions",
    "audit": "/audit",
    "settings": "/settings",
    "not-found": "/nowhere",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_in_both_themes(visitor: Visitor, name: str) -> None:
    visitor.page.set_viewport_size({"width": 1600, "height": 1000})
    page = visitor.open(PAGES[name])
    if name.startswith("find"):
        page.wait_for_selector("[data-ended]")
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        visitor.picture(f"{name}-{theme}")
        visitor.check_access(f"{name} {theme}")
    page.set_viewport_size({"width": 390, "height": 844})
    visitor.picture(f"{name}-390")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1600, "height": 1000})
    if name == "not-found":
        assert visitor.faults == [
            "error: Failed to load resource: the server responded with a status of 404 (Not Found)"
        ]
        visitor.faults.clear()
    visitor.check_quiet()


def test_a_message_opens_beside_the_list(visitor: Visitor) -> None:
    page = visitor.open(PAGES["queue"])
    page.click("[data-rows] tbody tr:nth-child(3) td:nth-child(2)")
    page.wait_for_selector("#right .code")
    assert "129.90" in page.inner_text("#right .code")
    page.click("#right .tabs a:has-text('Packet')")
    page.wait_for_selector("#right .fields")
    visitor.picture("queue-packet-light")
    address = page.url
    shown = page.inner_text("#right")
    page.reload()
    assert page.inner_text("#right") == shown
    page.go_back()
    page.wait_for_selector("#right .code")
    assert page.url != address
    visitor.check_quiet()


def test_nothing_hostile_runs_and_all_of_it_is_shown(visitor: Visitor) -> None:
    page = visitor.open("/queues/private$%5Chostile")
    labels = page.locator("[data-rows] tbody bdi").all_inner_texts()
    assert len(labels) == len(TEXTS) + len(BODIES)
    assert TEXTS[0] in labels
    assert sum("bad" in label for label in labels) == len(TEXTS)
    addresses = page.evaluate(
        "[...document.querySelectorAll('[data-rows] tbody a')].map(link => link.href)"
    )
    for at, address in enumerate(addresses):
        for view in ("body", "properties", "packet") if at in (0, 2, 5) else ("body",):
            page.goto(f"{address}&view={view}", wait_until="commit")
            page.wait_for_selector("#right .msg-head")
            assert page.locator("#right .msg-head").count() == 1
            assert page.evaluate("window.hurt") is None
            assert page.locator("#right script, #right [hx-get], #right img").count() == 0
    for path in ("/outgoing", "/find?text=bad", "/queues", f"/find?text={TEXTS[1]}"):
        visitor.open(path)
        assert page.evaluate("window.hurt") is None
    visitor.open("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("<img src=x onerror=window.hurt=1>")
    page.wait_for_selector("#palette-list [role=option]")
    assert page.evaluate("window.hurt") is None
    visitor.picture("palette-light")
    visitor.check_quiet()


def test_a_dead_letter_is_retried_and_received_by_keyboard_alone(
    visitor: Visitor, manager: Watched
) -> None:
    page = visitor.open("/")
    press = page.keyboard.press
    press("g")
    press("d")
    page.wait_for_url("**/dead-letters")
    page.wait_for_selector(".reason")
    focus(visitor, ".reason > a")
    press("Enter")
    page.wait_for_selector(".why")
    assert "Check that the receiver runs" in page.inner_text(".why")
    focus(visitor, ".reason .btn")
    press("Enter")
    page.wait_for_selector("aside.drawer")
    assert "orders would take" in page.inner_text("aside.drawer")
    focus(visitor, "input[name=limits][value=restart]")
    press("ArrowDown")
    focus(visitor, "aside.drawer .btn.primary")
    press("Enter")
    page.wait_for_url("**/jobs/*")
    page.wait_for_selector(".kpi:has-text('finished')")
    visitor.picture("job-light")
    visitor.check_access("job")
    assert manager.run("receive", ORDERS, "--count", "3", "--json").objects[2]["body"] == "late"
    visitor.check_quiet()


def focus(visitor: Visitor, selector: str) -> None:
    """Press Tab until something has the focus, which must be visible."""
    page = visitor.page
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("s => document.activeElement?.matches(s)", selector):
            outline = "getComputedStyle(document.activeElement).outlineStyle"
            assert page.evaluate(outline) != "none"
            return
    pytest.fail(f"Tab does not reach {selector}")


def test_messages_are_moved_and_removed_with_the_keyboard(
    visitor: Visitor, manager: Watched
) -> None:
    page = visitor.open(PAGES["queue"])
    for key in ("j", "x", "j", "x"):
        page.keyboard.press(key)
    expect(page.locator("#selbar")).to_contain_text("2 selected")
    visitor.picture("selection-light")
    page.click("#selbar .danger")
    page.click("#remove .danger.solid")
    expect(page.locator("#toasts")).to_contain_text("2 messages removed")
    moved = manager.run("peek", f"{PAYMENTS};removed", "--count", "9", "--json").objects
    assert len(moved) == 2
    expect(page.locator("[data-rows] tbody tr")).to_have_count(28)
    log = (manager.data / "console" / "audit.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in log]
    results = [e["result"] for e in entries if e["action"] == "begin_job"][-2:]
    assert results == ["begun", "done"]
    visitor.check_quiet()


@contextlib.contextmanager
def console_alone(manager: Manager, folder: Path) -> Iterator[str]:
    """A console that goes on when the queue manager dies."""
    words = ("console", "--port", "0", "--folder", str(folder), "--socket", manager.socket)
    with manager.start(*words, stdout=subprocess.PIPE) as console:
        try:
            assert console.stdout is not None
            yield console.stdout.readline().decode().split()[1].rstrip("/")
        finally:
            console.terminate()


@contextlib.contextmanager
def signed_in_alone(visitor: Visitor, manager: Manager, folder: Path) -> Iterator[Visitor]:
    """Somebody at such a console."""
    with console_alone(manager, folder) as address:
        other = Visitor(visitor.new_context(), address)
        wait_until((folder / "link.sock").exists)
        where = ("--folder", str(folder), "--address", address)
        other.page.goto(run(["console", "link", *where]).out.strip())
        yield other


def test_a_page_goes_on_when_the_queue_manager_comes_back(visitor: Visitor, tmp_path: Path) -> None:
    manager = Manager(tmp_path / "data", "--name", "beta")
    manager.run("queue", "create", ORDERS)
    with signed_in_alone(visitor, manager, tmp_path / "console") as other:
        expect(other.page.locator("#busiest")).to_contain_text("orders")
        manager.process.kill()
        manager.process.wait()
        expect(other.page.locator("#stale")).to_contain_text("does not answer")
        expect(other.page.locator("#busiest")).to_contain_text("orders")
        other.picture("stale-light")
        other.check_access("stale")
        manager = Manager(tmp_path / "data", "--name", "beta")
        expect(other.page.locator("#stale .notice")).to_have_count(0)
        manager.run("send", ORDERS, "--body", "x", "--recoverable", "--count", "5")
        expect(other.page.locator("#busiest td.num").first).to_have_text("5")
        other.check_quiet()
        other.context.close()
    assert manager.stop() == 0


@pytest.mark.parametrize("late", ["vendor/hx-sse.min.js", "console.js"])
def test_a_page_is_live_even_if_a_script_comes_late(visitor: Visitor, late: str) -> None:
    page = visitor.page
    held: list[Route] = []
    page.route(f"**/static/{late}", lambda route: held.append(route))
    try:
        with page.expect_request(f"**/static/{late}"):
            page.goto(visitor.base + "/", wait_until="commit")
        page.wait_for_function("() => window.htmx")
        # A timer that htmx set when it was loaded has fired before one that is set now.
        page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 20))")
        with page.expect_request("**/live?*", timeout=20_000):
            held[0].continue_()
    finally:
        page.unroute(f"**/static/{late}")
    visitor.check_quiet()


def test_a_page_that_could_not_be_shown_comes_by_itself(visitor: Visitor, tmp_path: Path) -> None:
    manager = Manager(tmp_path / "data", "--name", "beta")
    manager.run("queue", "create", ORDERS)
    with signed_in_alone(visitor, manager, tmp_path / "console") as other:
        manager.process.kill()
        manager.process.wait()
        other.open("/queues/private$%5Corders")
        expect(other.page.locator("main")).to_contain_text("goes on by itself")
        other.check_access("away")
        manager = Manager(tmp_path / "data", "--name", "beta")
        expect(other.page.locator("#queue-name")).to_contain_text("orders")
        other.context.close()
    assert manager.stop() == 0


class Attacker(BaseHTTPRequestHandler):
    """A page of another site that attacks the console."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<iframe id=frame></iframe><form id=form method=post></form>")

    def log_message(self, *args: object) -> None:
        pass


@contextlib.contextmanager
def attacker() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.77", 0), Attacker)
    thread = threading.Thread(target=partial(server.serve_forever, 0.05))
    thread.start()
    try:
        yield f"http://127.0.0.77:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_times_of_other_days_have_their_date(visitor: Visitor, manager: Watched) -> None:
    context = visitor.new_context()
    try:
        later = Visitor(context, visitor.base)
        later.sign_in(manager)
        for days, shown in (
            (0, r"^\d\d:\d\d:\d\d\.\d{3}$"),
            (3, r"^\d+ \w{3}(, \d\d:\d\d| \d{4})$"),
        ):
            later.page.clock.set_fixed_time(datetime.now(UTC) + timedelta(days=days))
            page = later.open(PAGES["queue"])
            expect(page.locator("[data-rows] tbody time").first).to_have_text(re.compile(shown))
    finally:
        context.close()


def test_narrow_windows_show_which_page_and_tab_is_open(visitor: Visitor) -> None:
    page = visitor.page
    page.set_viewport_size({"width": 390, "height": 844})
    try:
        visitor.open(PAGES["settings"])
        expect(page.locator(".side [aria-current]")).to_be_in_viewport(ratio=1)
        visitor.open(PAGES["queue-settings"])
        expect(page.locator("#queue-tabs [aria-current]")).to_be_in_viewport(ratio=0.9)
        visitor.open(PAGES["sessions"])
        for button in page.locator("td button:has-text('Hang up')").all():
            expect(button).to_be_in_viewport(ratio=1)
    finally:
        page.set_viewport_size({"width": 1600, "height": 1000})
    visitor.check_quiet()


def test_another_site_can_do_nothing(visitor: Visitor, manager: Watched) -> None:
    with attacker() as site:
        page = visitor.context.new_page()
        page.goto(site)
        target = f"{visitor.base}/api/v1/queues/private$%5Corders/purge"
        failed = page.evaluate(
            """async (target) => {
                const how = {method: 'POST', credentials: 'include'};
                try { await fetch(target, how); return 'answered'; } catch { return 'failed'; }
            }""",
            target,
        )
        assert failed == "failed"
        with page.expect_navigation() as posted:
            page.evaluate(
                "t => { const f = document.getElementById('form'); f.action = t; f.submit(); }",
                target,
            )
        answer = posted.value
        assert answer is not None
        assert answer.status in (401, 403)
        page.goto(site)
        page.evaluate("t => { document.getElementById('frame').src = t; }", visitor.base + "/")
        page.wait_for_function("() => document.getElementById('frame').contentDocument === null")
        assert page.frames[-1].locator(".app").count() == 0
        page.close()
    visitor.open("/")
    visitor.faults.clear()
