"""Pages that are open when their session ends, or the console does."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect
from tests.admin.browser import Visitor, needs_chromium, visiting
from tests.admin.callers import add_token
from tests.admin.console_process import Watched, wait_until, watched
from tests.cli.running import run

expect.set_options(timeout=30_000)
pytestmark = [needs_chromium, pytest.mark.timeout(200)]
ORDERS = "/queues/private$%5Corders"


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched(tmp_path_factory.mktemp("sessions"), "--name", "alpha") as running:
        running.run("queue", "create", ".\\private$\\orders")
        yield running


@pytest.fixture(scope="module")
def visitor(manager: Watched) -> Iterator[Visitor]:
    with visiting(manager) as found:
        yield found


def sign_in(visitor: Visitor, token: str) -> None:
    visitor.page.fill("[name=token]", token)
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.locator("#queue-name")).to_contain_text("orders")


def remove_token(manager: Watched, name: str) -> None:
    done = run(["console", "token", "remove", name, "--data", str(manager.data)])
    assert done.code == 0, done.err


def test_a_page_says_that_its_session_has_ended(visitor: Visitor, manager: Watched) -> None:
    page = visitor.open(f"{ORDERS}?filter=x")
    with page.expect_response(lambda answer: "/live?" in answer.url) as feed:
        sign_in(visitor, add_token(manager, "short"))
    assert feed.value.status == 200
    remove_token(manager, "short")
    notice = page.locator("#stale .notice")
    expect(notice).to_contain_text("Your session has ended")
    expect(page.locator("[data-live-word]")).to_have_text("Not live")
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        visitor.picture(f"session-ended-{theme}")
        visitor.check_access(f"session-ended {theme}")
    page.click("button[data-open=send]")
    page.click("#send .primary")
    refused = page.locator("#send .refusal")
    expect(refused).to_contain_text("Your session has ended.")
    expect(refused).to_contain_text("Sign in again.")
    page.keyboard.press("Escape")
    notice.locator("text=Sign in").last.click()
    sign_in(visitor, add_token(manager, "longer"))
    # Where they were.
    assert page.url.endswith(f"{ORDERS}?filter=x")
    assert all("401" in fault for fault in visitor.faults), visitor.faults
    visitor.faults.clear()


def test_a_page_that_was_never_live_says_so_and_asks_again(
    visitor: Visitor, manager: Watched
) -> None:
    visitor.context.clear_cookies()
    page = visitor.open(ORDERS)
    answers = [429, 503]

    def refuse(route: Route) -> None:
        if answers:
            route.fulfill(status=answers.pop(), body="")
        else:
            route.continue_()

    page.route("**/live?*", refuse)
    sign_in(visitor, add_token(manager, "late"))
    expect(page.locator("#stale .notice")).to_contain_text("Live updates are refused")
    expect(page.locator("[data-live-word]")).to_have_text("Not live")
    expect(page.locator("#stale .notice")).to_have_count(0)
    expect(page.locator("[data-live-word]")).to_have_text("Live")
    assert not answers
    page.unroute("**/live?*")

    # Between the page and its first update.
    def end_before(route: Route) -> None:
        remove_token(manager, "late")
        route.continue_()

    page.route("**/live?*", end_before)
    page.reload()
    expect(page.locator("#stale .notice")).to_contain_text("Your session has ended")
    page.unroute("**/live?*")
    visitor.faults.clear()


def test_a_page_says_that_the_console_is_away(
    visitor: Visitor, manager: Watched, tmp_path: Path
) -> None:
    words = ("console", "--port", "0", "--folder", str(tmp_path), "--socket", manager.socket)
    with manager.start(*words, stdout=subprocess.PIPE) as console:
        try:
            assert console.stdout is not None
            address = console.stdout.readline().decode().split()[1].rstrip("/")
            other = Visitor(visitor.new_context(), address)
            wait_until((tmp_path / "link.sock").exists)
            where = ("--folder", str(tmp_path), "--address", address)
            other.page.goto(run(["console", "link", *where]).out.strip())
            expect(other.page.locator("#busiest")).to_contain_text("orders")
        finally:
            console.terminate()
    expect(other.page.locator("#stale")).to_contain_text("The console does not answer")
    expect(other.page.locator("[data-live-word]")).to_have_text("Not live")
    expect(other.page.locator("#busiest")).to_contain_text("orders")
    other.check_access("console away")
    other.context.close()
