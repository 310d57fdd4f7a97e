"""The console in a real browser."""

from collections.abc import Iterator

import pytest
from tests.admin.browser import Visitor, needs_chromium, visiting
from tests.admin.console_process import Watched, watched

pytestmark = [needs_chromium, pytest.mark.timeout(240)]
ORDERS = ".\\private$\\orders"
PAYMENTS = ".\\private$\\payments"


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched(tmp_path_factory.mktemp("browser"), "--name", "alpha") as running:
        running.run("queue", "create", ORDERS, "--label", "Orders from the shop")
        running.run("queue", "create", PAYMENTS, "--transactional", "--journal")
        running.run("send", ORDERS, "--body", '{"order": 4711}', "--label", "Order 4711")
        running.run(
            "send",
            PAYMENTS,
            "--body",
            "<pay><value>1</value></pay>",
            "--transactional",
            *("--label", "Payment captured", "--count", "30"),
        )
        yield running


@pytest.fixture(scope="module")
def visitor(manager: Watched) -> Iterator[Visitor]:
    with visiting(manager) as found:
        found.sign_in(manager)
        yield found


PAGES = {
    "overview": "/",
    "queues": "/queues",
    "queue": "/queues/private$%5Cpayments",
    "outgoing": "/outgoing",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_in_both_themes_and_sizes(visitor: Visitor, name: str) -> None:
    page = visitor.open(PAGES[name])
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        visitor.picture(f"{name}-{theme}-1600")
        visitor.check_access(f"{name} {theme}")
    page.set_viewport_size({"width": 390, "height": 844})
    visitor.picture(f"{name}-dark-390")
    page.set_viewport_size({"width": 1600, "height": 1000})
    visitor.check_quiet()


def test_a_message_opens_beside_the_list(visitor: Visitor) -> None:
    page = visitor.open(PAGES["queue"])
    page.click("[data-rows] tbody tr:nth-child(3) td:nth-child(2)")
    page.wait_for_selector("#right .code")
    assert "<value>" in page.inner_text("#right .code")
    page.click("#right .tabs a:has-text('Packet')")
    page.wait_for_selector("#right .fields")
    visitor.picture("queue-packet-light-1600")
    address = page.url
    shown = page.inner_text("#right")
    page.reload()
    assert page.inner_text("#right") == shown
    page.go_back()
    page.wait_for_selector("#right .code")
    assert page.url != address
    visitor.check_quiet()
