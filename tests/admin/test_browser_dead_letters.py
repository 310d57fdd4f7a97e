"""Dead letters of one reason in a real browser: exported, removed, retried in part."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.admin.browser import Visitor, needs_chromium, visiting
from tests.admin.console_process import Watched, wait_until, watched
from tests.admin.orders import ORDERS, empty_orders

import openmsmq
from openmsmq.care.packet_files import load_messages

expect.set_options(timeout=30_000)
pytestmark = [needs_chromium, pytest.mark.timeout(200)]
LATE = "/dead-letters?open=MQMSG_CLASS_NACK_RECEIVE_TIMEOUT"
COUNT = 120


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched(tmp_path_factory.mktemp("dead"), "--name", "alpha") as running:
        yield running


@pytest.fixture(scope="module")
def visitor(manager: Watched) -> Iterator[Visitor]:
    with visiting(manager) as found:
        found.sign_in(manager)
        yield found


@pytest.fixture
def client(manager: Watched) -> Iterator[openmsmq.QueueManager]:
    """A queue manager with dead letters for two reasons."""
    with empty_orders(manager) as connected:
        for name in (";DEADLETTER", ";DEADXACT"):
            manager.run("queue", "purge", f".\\system${name}", "--yes")
        queue = connected.open_queue(ORDERS, "send")
        for number in range(COUNT):
            late = openmsmq.Message(b"x", f"late {number}", time_to_be_received=0, dead_letter=True)
            queue.send(late)
        lost = openmsmq.Message(b"x", "lost", time_to_reach_queue=0, dead_letter=True)
        connected.send(r"DIRECT=TCP:127.0.0.99\private$\x", lost)
        connected.flush()
        wait_until(lambda: connected.status()["dead_letters"] == COUNT + 1)
        yield connected


@pytest.mark.usefixtures("client")
def test_a_group_is_exported(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.open(LATE)
    page.click(".foot button:has-text('Export')")
    page.wait_for_url("**/jobs/*")
    with page.expect_download() as download:
        page.click("text=Download")
    file = tmp_path / "messages.omq"
    download.value.save_as(file)
    assert len(list(load_messages(file))) == COUNT
    for address, count in (("/dead-letters", COUNT + 1), ("/dead-letters?where=label+~+lost", 1)):
        visitor.open(address)
        page.click(".head button:has-text('Export')")
        page.wait_for_url("**/jobs/*")
        expect(page.locator(".kpi:has-text('Messages') dd").first).to_have_text(str(count))
    visitor.check_quiet()


def test_a_group_is_removed_with_its_number_typed(
    visitor: Visitor, client: openmsmq.QueueManager
) -> None:
    page = visitor.open(LATE)
    page.click(".foot button:has-text('Remove')")
    dialog = page.locator("#remove-group")
    expect(dialog).to_contain_text(f"Remove {COUNT} dead letters?")
    expect(dialog).to_contain_text("1 other dead letter stays here")
    visitor.picture("remove-group-light")
    visitor.check_access("remove-group")
    # One that comes meanwhile is not one of those that were confirmed.
    client.send(ORDERS, openmsmq.Message(b"x", "later", time_to_be_received=0, dead_letter=True))
    client.flush()
    wait_until(lambda: client.status()["dead_letters"] == COUNT + 2)
    page.keyboard.type(str(COUNT - 1))
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    dialog.locator("input:visible").fill(str(COUNT))
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/*")
    page.wait_for_selector(".kpi:has-text('finished')")
    assert client.status()["dead_letters"] == 2
    visitor.check_quiet()


def test_one_is_retried_before_the_others(visitor: Visitor, client: openmsmq.QueueManager) -> None:
    page = visitor.page
    page.set_viewport_size({"width": 390, "height": 844})
    try:
        visitor.open(LATE)
        # Narrow windows have the actions as well.
        expect(page.locator(".foot button:has-text('Remove')")).to_be_visible()
        page.locator(".reason.open .btn:has-text('Retry')").click()
        drawer = page.locator("aside.drawer")
        expect(drawer).to_contain_text("orders would take")
        drawer.locator("input[name=limits][value=lift]").check()
        drawer.locator("[name=first]").fill("1")
        expect(drawer.locator(".btn.primary")).to_have_text("Retry 1")
        visitor.check_access("retry one")
        drawer.locator(".btn.primary").click()
        page.wait_for_url("**/jobs/*")
        page.wait_for_selector(".kpi:has-text('finished')")
        with client.open_queue(ORDERS, "peek") as queue:
            assert [message.label for message in queue.cursor()] == ["late 0"]
        visitor.open("/jobs")
        result = page.locator(".jobs td:has-text('1 done')").first
        expect(result).to_be_in_viewport(ratio=1)
    finally:
        page.set_viewport_size({"width": 1600, "height": 1000})
    visitor.check_quiet()
