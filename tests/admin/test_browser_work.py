"""Work at the console in a real browser: lists that are live, files, policies, searches."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.admin.browser import Visitor, needs_chromium, visiting
from tests.admin.callers import add_token
from tests.admin.console_process import Watched, wait_until, watched
from tests.admin.orders import ORDERS, empty_orders, send
from tests.cli.running import run

import openmsmq
from openmsmq.admin.pages.queue_pages import SIDE_QUEUES

expect.set_options(timeout=30_000)
pytestmark = [needs_chromium, pytest.mark.timeout(200)]
AT = "/queues/private$%5Corders"
HOPS = (("188", "invoices"), ("188", "orders"), ("187", "orders"))


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched(tmp_path_factory.mktemp("work"), "--name", "alpha") as running:
        yield running


@pytest.fixture(scope="module")
def visitor(manager: Watched) -> Iterator[Visitor]:
    with visiting(manager) as found:
        found.sign_in(manager)
        yield found


@pytest.fixture
def client(manager: Watched) -> Iterator[openmsmq.QueueManager]:
    with empty_orders(manager) as connected:
        yield connected


def test_new_messages_move_no_rows_and_are_shown_when_asked_for(
    visitor: Visitor, client: openmsmq.QueueManager
) -> None:
    send(client, "first", "second")
    page = visitor.open(AT)
    rows = page.locator("[data-rows] tbody tr")
    expect(rows).to_have_count(2)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    before = rows.nth(1).bounding_box()
    send(client, "third", "fourth")
    button = page.locator("[data-newer]")
    expect(button).to_have_text("2 new, show")
    assert rows.nth(1).bounding_box() == before
    expect(rows).to_have_count(2)
    visitor.picture("newer-light")
    visitor.check_access("newer")
    page.keyboard.press("n")
    expect(rows).to_have_count(4)
    expect(button).to_be_hidden()
    # Selection and focus stay where they were.
    expect(page.locator("#selbar")).to_contain_text("1 selected")
    assert page.evaluate("document.activeElement.textContent") == "second"
    visitor.check_quiet()


def test_a_list_that_is_pointed_at_keeps_its_rows_where_they_are(
    visitor: Visitor, client: openmsmq.QueueManager
) -> None:
    page = visitor.open("/queues")
    rows = page.locator("#list tbody tr")
    expect(rows.first).to_contain_text("orders")
    here = rows.first.locator("td.num").first
    rows.first.hover()
    client.create_queue(r".\private$\before")
    try:
        send(client, "first")
        expect(page.locator('[data-count="queues"]').first).to_have_text("2")
        # The list came with this count, or comes a second later.
        page.wait_for_timeout(1_500)
        expect(rows).to_have_count(1)
        page.mouse.move(0, 0)
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("before")
        # What came for a row while its list waited is there as well.
        expect(rows.nth(1).locator("td.num").first).to_have_text("1")
        page.keyboard.press("p")
        expect(page.locator("[data-live-word]")).to_have_text("Paused")
        send(client, "second")
        wait_until(lambda: depth_shown(visitor) == "2")
        page.wait_for_timeout(1_500)
        expect(rows.nth(1).locator("td.num").first).to_have_text("1")
        page.keyboard.press("p")
        expect(rows.nth(1).locator("td.num").first).to_have_text("2")
        expect(here).to_have_text("0")
        visitor.check_quiet()
    finally:
        client.delete_queue(r".\private$\before")


def depth_shown(visitor: Visitor) -> str:
    """How many messages the list of queues has for orders when it is opened now."""
    other = visitor.context.new_page()
    try:
        other.goto(visitor.base + "/queues")
        return (
            other.locator("#list tbody tr", has_text="orders").locator("td.num").first.inner_text()
        )
    finally:
        other.close()


def test_the_first_pane_has_the_queues_around_this_one(
    visitor: Visitor, client: openmsmq.QueueManager
) -> None:
    names = [rf".\private$\many{number:03}" for number in range(SIDE_QUEUES + 20)]
    for name in names:
        client.create_queue(name)
    try:
        page = visitor.open("/queues/private$%5Cmany110")
        side = page.locator("#side-queues a")
        queues = page.locator('#side-queues a[id*="many"]')
        expect(queues).to_have_count(SIDE_QUEUES)
        expect(queues.first).to_contain_text("many010")
        expect(side.last).to_have_text(f"All {len(names) + 1} queues")
        current = page.locator("#side-queues [aria-current]")
        expect(current).to_contain_text("many110")
        expect(current).to_be_in_viewport()
        visitor.picture("many-queues-light")
        # Half an entry under the edge of the pane counts as one that is too small.
        queues.first.scroll_into_view_if_needed()
        visitor.check_access("many-queues")
        visitor.open("/queues/private$%5Cmany000")
        expect(queues.first).to_contain_text("many000")
        expect(queues).to_have_count(SIDE_QUEUES)
    finally:
        for name in names:
            client.delete_queue(name)


def test_a_removal_is_undone_from_its_toast(
    visitor: Visitor, client: openmsmq.QueueManager, manager: Watched
) -> None:
    send(client, "keep", "wrong")
    page = visitor.open(AT)
    page.check("[data-rows] tbody tr:nth-child(2) input")
    page.click("#selbar .danger")
    expect(page.locator("#remove")).to_contain_text("1 message stays in the queue")
    visitor.picture("remove-light")
    page.click("#remove .danger.solid")
    toast = page.locator("#toasts .toast")
    expect(toast).to_contain_text("1 message removed")
    visitor.picture("toast-light")
    assert len(manager.run("peek", f"{ORDERS};removed", "--count", "9", "--json").objects) == 1
    toast.locator("text=Undo").click()
    expect(page.locator("#toasts")).to_contain_text("1 message is back")
    expect(page.locator("[data-rows] tbody tr")).to_have_count(2)
    visitor.check_quiet()


def test_a_purge_names_the_number_that_there_is_now(
    visitor: Visitor, client: openmsmq.QueueManager
) -> None:
    send(client, "first")
    page = visitor.open(AT)
    send(client, *(f"order {number}" for number in range(1_200)))
    page.click("details.menu summary")
    page.click("[data-open=purge]")
    dialog = page.locator("#purge")
    expect(dialog.locator("h2")).to_have_text("Remove 1,201 messages from orders?")
    expect(dialog.locator(".danger")).to_have_text("Remove 1,201")
    visitor.picture("purge-light")
    visitor.check_access("purge")
    typed = dialog.locator("[data-typed] input")
    typed.fill("1")
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    typed.fill("1201")
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("1,201 messages removed")
    visitor.check_quiet()


def test_all_that_match_a_filter_are_selected(
    visitor: Visitor, client: openmsmq.QueueManager, manager: Watched
) -> None:
    send(client, *(f"order {number}" for number in range(205)), "other")
    page = visitor.open(f"{AT}?where=label+~+order")
    page.check("[data-all]")
    expect(page.locator("#selbar")).to_contain_text("200 selected")
    page.click("text=Select all that match")
    expect(page.locator("#selbar")).to_contain_text("205 selected")
    page.click("#selbar [data-open=move]")
    expect(page.locator("#move h2")).to_have_text("Move 205 messages")
    page.click("#move .primary")
    expect(page.locator("#toasts")).to_contain_text("205 messages moved")
    left = manager.run("peek", ORDERS, "--count", "9", "--json").objects
    assert [message["label"] for message in left] == ["other"]
    manager.run("queue", "purge", f"{ORDERS};retry", "--yes")
    visitor.check_quiet()


def test_a_search_shows_progress_and_stops(visitor: Visitor, client: openmsmq.QueueManager) -> None:
    send(client, *(f"Order {number}" for number in range(20)))
    page = visitor.open("/find?text=order+1")
    page.wait_for_selector("[data-ended]")
    assert page.locator("[data-rows] tbody tr").count() == 11
    assert page.locator("mark").first.inner_text() == "Order 1"
    assert "11 found, looked at" in page.inner_text("[data-progress]")
    held: list[object] = []
    # The answer does not come: the page shows how far it is, and stops.
    page.route("**/search/stream**", lambda route: held.append(route))
    page.goto(f"{visitor.base}/find?text=order")
    expect(page.locator(".skel").first).to_be_visible()
    for theme in ("light", "dark"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        visitor.picture(f"searching-{theme}")
        visitor.check_access(f"searching {theme}")
    page.click("[data-stop]")
    expect(page.locator("[data-progress]")).to_contain_text("Stopped")
    page.unroute("**/search/stream**")
    visitor.open("/find?filter=nonsense")
    assert "nonsense" in page.inner_text("main")
    visitor.check_quiet()


def test_a_file_is_checked_before_it_is_sent(
    visitor: Visitor, client: openmsmq.QueueManager, tmp_path: Path
) -> None:
    send(client, "one", "two")
    page = visitor.open(AT)
    page.click("details.menu summary")
    visitor.picture("menu-light")
    with page.expect_download() as download:
        page.click("text=Export as .omq")
    file = tmp_path / "messages.omq"
    download.value.save_as(file)
    assert file.read_bytes().startswith(b"OMQ1\n")
    page.click("details.menu summary")
    page.click("text=Send the messages of a file")
    page.set_input_files("#load input[type=file]", file)
    page.click("#load [data-go]")
    expect(page.locator("#load [data-checked]")).to_have_text(
        "2 messages in the file, 2 would be accepted."
    )
    visitor.picture("load-light")
    visitor.check_access("load")
    page.click("#load [data-go]")
    expect(page.locator("#toasts")).to_contain_text("2 messages sent")
    expect(page.locator("[data-rows] tbody tr")).to_have_count(4)
    visitor.check_quiet()


def test_a_policy_is_edited_and_only_what_changed_is_sent(
    visitor: Visitor, client: openmsmq.QueueManager
) -> None:
    page = visitor.open(f"{AT}/settings")
    page.select_option("select[name=receive_error_handling]", "move")
    page.fill("input[name=retry_cycle_delay]", "60")
    with page.expect_request("**/api/v1/queues/**") as sent:
        page.click("text=Save")
    assert sent.value.post_data_json == {"receive_error_handling": "move", "retry_cycle_delay": 60}
    expect(page.locator("#toasts")).to_contain_text("Queue changed")
    info = client.queue_info(ORDERS)
    assert (info["receive_error_handling"], info["retry_cycle_delay"]) == ("move", 60)
    visitor.check_quiet()


def test_delayed_messages_are_delivered_and_cancelled(
    visitor: Visitor, client: openmsmq.QueueManager
) -> None:
    queue = client.open_queue(ORDERS, "send")
    for label in ("soon", "never"):
        queue.send(openmsmq.Message(b"x", label, delivery="recoverable"), delay=3600)
    client.flush()
    page = visitor.open(f"{AT}/delayed")
    page.locator("tr", has_text="soon").locator("text=Deliver now").click()
    expect(page.locator("#toasts")).to_contain_text("Message delivered")
    page.locator("tr", has_text="never").locator("text=Cancel").click()
    page.click("dialog[open] .danger.solid")
    expect(page.locator(".empty")).to_contain_text("No message waits for its time")
    assert [message.label for message in queue_of(client)] == ["soon"]
    visitor.check_quiet()


def queue_of(client: openmsmq.QueueManager) -> list[openmsmq.ReceivedMessage]:
    with client.open_queue(ORDERS, "peek") as queue:
        return list(queue.cursor())


def test_a_program_is_hung_up_on(visitor: Visitor, manager: Watched) -> None:
    page = visitor.open("/sessions")
    with openmsmq.connect(manager.socket) as stranger:
        stranger.status()
        numbers = [each["id"] for each in stranger.clients()]
        newest = max(numbers)
        page.reload()
        page.locator(f"#c-local-{newest}").locator("text=Hang up").click()
        expect(page.locator("#hang-up")).to_contain_text(f"Hang up on local {newest}?")
        visitor.picture("hang-up-light")
        page.click("#hang-up .danger.solid")
        expect(page.locator("#toasts")).to_contain_text("The connection is closed")
        with pytest.raises(openmsmq.MsmqError):
            stranger.status()
    visitor.faults.clear()


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize("width", [390, 820, 1366, 2560])
def test_pages_fit_every_width(visitor: Visitor, width: int) -> None:
    page = visitor.page
    page.set_viewport_size({"width": width, "height": 900})
    where = "where=label+~+order+and+age+<+1h+and+correlation_id+=+nothing"
    for path in (
        *("/", "/queues", "/queues?filter=order", "/sessions", f"/dead-letters?{where}"),
        *(AT, f"{AT}?{where}", f"{AT}/settings", f"{AT}/activity", "/find", "/settings"),
    ):
        visitor.open(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    visitor.open("/")
    visitor.picture(f"overview-{width}")
    visitor.open(AT)
    visitor.picture(f"queue-{width}")
    page.set_viewport_size({"width": 1600, "height": 1000})
    visitor.check_quiet()


def test_lists_keep_names_and_actions_in_narrow_windows(
    visitor: Visitor, manager: Watched, client: openmsmq.QueueManager
) -> None:
    destination = r"DIRECT=TCP:127.0.0.99\private$\invoices"
    client.send(destination, openmsmq.Message(b"x", "away"))
    client.flush()
    page = visitor.page
    try:
        for width in (390, 900, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            for path, rows in (("/queues", "#list"), ("/outgoing", "#list"), ("/", "#busiest")):
                visitor.open(path)
                name = page.locator(f"{rows} tbody tr .name").first
                expect(name).to_be_visible()
                shown = name.bounding_box()
                head = page.locator(f"{rows} th:visible").nth(1).bounding_box()
                assert shown is not None
                assert head is not None
                assert shown["x"] + shown["width"] <= head["x"], (path, width)
        visitor.open("/sessions")
        expect(page.locator("[data-ask]").first).to_be_in_viewport(ratio=1)
        # The queue is what tells destinations apart; the way there may be cut.
        visitor.open("/outgoing")
        expect(page.locator("#list tbody .name")).to_have_text("invoices")
    finally:
        page.set_viewport_size({"width": 1600, "height": 1000})
        manager.run("outgoing", "purge", destination, "--yes")
        manager.run("outgoing", "delete", destination)
    visitor.check_quiet()


def test_a_narrow_audit_log_has_what_was_done_and_its_result(
    visitor: Visitor, manager: Watched
) -> None:
    page = visitor.page
    add_token(manager, "narrow")
    page.set_viewport_size({"width": 390, "height": 844})
    try:
        visitor.open("/settings")
        page.click("tr:has-text('narrow') .danger")
        page.click("#remove-token .danger.solid")
        expect(page.locator("#toasts")).to_contain_text("Token removed")
        visitor.open("/audit")
        row = page.locator("#list tbody tr", has_text="remove token").first
        expect(row.locator("td:visible")).to_have_count(3)
        expect(row.locator("td").last).to_be_in_viewport(ratio=1)
        expect(row.locator("td").last).to_have_text("done")
        visitor.picture("audit-390")
    finally:
        page.set_viewport_size({"width": 1600, "height": 1000})
    visitor.check_quiet()


def test_a_message_fits_its_pane(visitor: Visitor, client: openmsmq.QueueManager) -> None:
    queue = client.open_queue(ORDERS, "send")
    queue.send(openmsmq.Message(bytes(range(256)), "long " * 49))
    client.flush()
    page = visitor.open(AT)
    page.click("[data-rows] tbody tr td:nth-child(2)")
    page.wait_for_selector("#right .code.bytes")
    assert page.evaluate("document.querySelector('#right').scrollWidth") <= 468
    line = page.locator("#right .code .l").first.bounding_box()
    assert line is not None
    assert line["height"] < 25
    visitor.picture("bytes-light")
    visitor.check_access("bytes")
    visitor.check_quiet()


def test_a_refusal_is_told_in_its_dialog(visitor: Visitor, client: openmsmq.QueueManager) -> None:
    assert client.queue_exists(ORDERS)
    page = visitor.open("/queues?new=1")
    page.fill("#new-queue [name=name]", "orders")
    page.click("#new-queue .primary")
    told = page.locator("#new-queue .refusal")
    expect(told).to_contain_text("exists already: .\\private$\\orders")
    expect(told).to_contain_text("MQ_ERROR_QUEUE_EXISTS 0xC00E0005")
    visitor.picture("refusal-light")
    visitor.check_access("refusal")
    page.click("#new-queue .primary")
    expect(told).to_have_count(1)
    assert {fault for fault in visitor.faults if "409" not in fault} == set()
    visitor.faults.clear()


def test_a_number_is_typed_as_it_is_shown(visitor: Visitor, client: openmsmq.QueueManager) -> None:
    send(client, *(f"order {number}" for number in range(1_001)))
    page = visitor.open(AT)
    page.check("[data-all]")
    page.click("[data-whole]")
    page.click("#selbar .danger")
    number = page.locator("#remove [data-confirm] input")
    for typed, fits in (("1001", True), ("1,001", True), ("1000", False), ("1", False)):
        number.fill(typed)
        assert number.evaluate("input => input.checkValidity()") is fits, typed
    visitor.check_quiet()


def test_an_outgoing_queue_is_shown_as_it_is_after_an_action(
    visitor: Visitor, manager: Watched, client: openmsmq.QueueManager
) -> None:
    destination = r"DIRECT=TCP:127.0.0.99\private$\paused"
    client.send(destination, openmsmq.Message(b"x", "away"))
    client.flush()
    try:
        page = visitor.open("/outgoing/DIRECT=TCP:127.0.0.99%5Cprivate$%5Cpaused")
        state = page.locator("#state .kpi").first
        page.click("#acts button:has-text('Pause')")
        expect(page.locator("#toasts")).to_contain_text("The link is paused")
        expect(state).to_contain_text("paused")
        page.click("#acts button:has-text('Resume')")
        expect(page.locator("#toasts")).to_contain_text("The link sends again")
        expect(page.locator("#acts")).to_contain_text("Pause")
        expect(state).not_to_contain_text("paused")
        # The buttons follow what others do.
        manager.run("outgoing", "pause", destination)
        expect(page.locator("#acts")).to_contain_text("Resume")
        visitor.check_access("paused")
    finally:
        manager.run("outgoing", "resume", destination)
        manager.run("outgoing", "purge", destination, "--yes")
        manager.run("outgoing", "delete", destination)
    visitor.check_quiet()


def test_links_are_listed_by_next_hop_and_queues_by_destination(
    visitor: Visitor, manager: Watched, client: openmsmq.QueueManager
) -> None:
    names = [rf"DIRECT=TCP:127.0.0.{host}\private$\{name}" for host, name in HOPS]
    for name in names:
        client.send(name, openmsmq.Message(b"x", "away"))
    client.flush()
    try:
        page = visitor.open("/outgoing")
        links = page.locator("[aria-labelledby=by-hop] tbody tr", has_text="127.0.0.18")
        queues = page.locator("#list tbody tr", has_text="127.0.0.18")
        expect(links).to_have_count(2)
        expect(queues).to_have_count(3)
        expect(links.first).to_contain_text("127.0.0.188")
        expect(links.first.locator("td.num").first).to_have_text("2")
        visitor.picture("links-light")
        visitor.check_access("links")
        links.first.locator("a").click()
        expect(queues).to_have_count(2)
        expect(page.locator("[data-chip]")).to_contain_text("next hop is 127.0.0.188")
        # What is live follows the address.
        client.send(names[0], openmsmq.Message(b"x", "away"))
        client.flush()
        expect(links.first.locator("td.num").nth(1)).to_have_text("3")
        expect(queues).to_have_count(2)
        page.locator("[data-chip]").click()
        expect(queues).to_have_count(3)
    finally:
        for name in names:
            manager.run("outgoing", "purge", name, "--yes")
            manager.run("outgoing", "delete", name)
    visitor.check_quiet()


def test_the_chosen_theme_is_shown_as_chosen(visitor: Visitor) -> None:
    page = visitor.open("/settings")
    pressed = page.locator("[data-theme-set][aria-pressed=true]")
    expect(pressed).to_have_text("System")
    page.click("[data-theme-set=dark]")
    expect(pressed).to_have_text("Dark")
    page.reload()
    expect(pressed).to_have_text("Dark")
    page.click("[data-theme-set=system]")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html[data-theme=dark]")).to_have_count(1)
    page.emulate_media(color_scheme="light")
    expect(page.locator("html[data-theme=light]")).to_have_count(1)
    visitor.check_quiet()


def test_somebody_signs_in_with_a_token(visitor: Visitor, manager: Watched) -> None:
    other = Visitor(visitor.new_context(), visitor.base)
    page = other.open("/queues?sort=-messages")
    page.fill("[name=token]", "wrong")
    page.keyboard.press("Enter")
    expect(page.locator("[role=alert]")).to_contain_text("The token is not valid")
    other.check_access("sign-in")
    page.fill("[name=token]", add_token(manager, "person"))
    page.keyboard.press("Enter")
    # Where they wanted to go, also after a token that was wrong.
    page.wait_for_url("**/queues?sort=-messages")
    expect(page.locator("h1")).to_have_text("Queues")
    assert all("401" in fault for fault in other.faults), other.faults
    other.context.close()


def test_a_token_is_removed_only_when_that_is_confirmed(visitor: Visitor, manager: Watched) -> None:
    words = ("console", "token", "add", "board", "--principal", "user:root")
    assert run([*words, "--data", str(manager.data)]).code == 0
    page = visitor.open("/settings")
    page.click("tr:has-text('board') .danger")
    expect(page.locator("#remove-token h2")).to_have_text("Remove the token board?")
    visitor.check_access("remove-token")
    page.click("#remove-token .danger.solid")
    expect(page.locator("#toasts")).to_contain_text("Token removed")
    expect(page.locator("tr:has-text('board')")).to_have_count(0)
    visitor.check_quiet()


def test_conditions_are_chips_that_are_added_and_removed(
    visitor: Visitor, client: openmsmq.QueueManager
) -> None:
    send(client, "first order", "second order", "a reminder")
    page = visitor.open(f"{AT}?filter=order")
    rows = page.locator("[data-rows] tbody tr")
    chips = page.locator("[data-chip]")
    expect(rows).to_have_count(2)
    page.click(".filters summary")
    page.select_option("[data-condition] [name=property]", "label")
    page.fill("[data-condition] [name=value]", 'second "or"')
    page.keyboard.press("Enter")
    expect(page.locator("#rows .empty")).to_contain_text("None of 3 messages matches")
    expect(chips).to_have_count(2)
    page.keyboard.press("/")
    expect(page.locator("[data-filter]")).to_be_focused()
    chips.nth(1).focus()
    page.keyboard.press("Delete")
    expect(chips).to_have_count(1)
    expect(rows).to_have_count(2)
    page.click(".filters summary")
    visitor.picture("condition-light")
    visitor.check_access("condition")
    page.fill("[data-condition] [name=value]", "second order")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(1)
    visitor.picture("chips-light")
    visitor.check_access("chips")
    # The address says it all: another window shows the same, and Back undoes a removal.
    page.reload()
    expect(chips.nth(1)).to_contain_text("label contains second order")
    chips.nth(0).click()
    expect(chips).to_have_count(1)
    expect(rows).to_have_count(1)
    page.go_back()
    expect(chips).to_have_count(2)
    visitor.check_quiet()


def test_every_list_that_filters_has_chips(visitor: Visitor, client: openmsmq.QueueManager) -> None:
    send(client, "an order")
    dying = openmsmq.Message(b"x", "too late", time_to_be_received=0, dead_letter=True)
    client.send(ORDERS, dying)
    client.flush()
    chips = visitor.page.locator("[data-chip]")
    for path, texts in {
        "/queues?filter=orders&hide=bytes": ["name or label contains orders"],
        "/find?text=order&case=1&filter=age+<+1h+and+priority+=+3&queues=orders": [
            "label or body contains, with case order",
            "age less than 1h",
            "priority is 3",
            "queue is like orders",
        ],
        "/dead-letters?where=label+~+late+and+age+<+1h": [
            "label contains late",
            "age less than 1h",
        ],
        "/dead-letters?where=label+~+never": ["label contains never"],
        "/dead-letters?where=nonsense": ["nonsense"],
    }.items():
        page = visitor.open(path)
        expect(chips).to_contain_text(texts)
        visitor.check_access(path)
        if path.startswith("/dead-letters"):
            expect(page.locator(".reason")).to_have_count(int("late" in path))
        for left in range(len(texts) - 1, -1, -1):
            chips.last.focus()
            page.keyboard.press("Enter")
            expect(chips).to_have_count(left)
    visitor.check_quiet()


def test_messages_to_another_machine_are_saved_before_they_are_removed(
    visitor: Visitor, manager: Watched, client: openmsmq.QueueManager
) -> None:
    destination = r"DIRECT=TCP:127.0.0.86\private$\saved"
    address = "/outgoing/DIRECT=TCP:127.0.0.86%5Cprivate$%5Csaved"
    client.send(destination, openmsmq.Message(b"x", "away"))
    client.flush()
    try:
        page = visitor.open(address)
        client.send(destination, openmsmq.Message(b"x", "also away"))
        client.flush()
        page.click("#acts [data-open=purge]")
        expect(page.locator("#purge h2")).to_have_text("Remove 2 messages to 127.0.0.86?")
        visitor.picture("purge-outgoing-light")
        visitor.check_access("purge-outgoing")
        page.click("#purge button:has-text('Save them first')")
        page.wait_for_url("**/jobs/*")
        expect(page.locator(".kpi:has-text('Done') dd").first).to_have_text("2")
        visitor.open(address)
        page.click("#acts [data-open=purge]")
        page.click("#purge .danger.solid")
        expect(page.locator("#toasts")).to_contain_text("2 messages removed")
    finally:
        manager.run("outgoing", "purge", destination, "--yes")
        manager.run("outgoing", "delete", destination)
    visitor.check_quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_list_scrolls_sideways_on_a_telephone(
    visitor: Visitor, client: openmsmq.QueueManager, scheme: str
) -> None:
    name = r".\private$\customers.contracts"
    queue = client.create_queue(name, journal=True)
    client.grant(name, "user:root", ["peek", "receive", "get-properties"])
    page = visitor.page
    try:
        queue.send(openmsmq.Message("a body", "a label"))
        client.flush()
        queue.move(f"{name};a-rather-long-subqueue")
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # literals
        at = "/queues/private$%5Ccustomers.contracts"
        # Figures have a new subqueue after a moment.
        wait_until(lambda: visitor.open(f"{at}/subqueues").locator("table.slim").count() == 1)
        for part in ("/journals", f"{at}/subqueues", f"{at}/permissions?principal=user:root"):
            for width in (390, 1280):
                page.set_viewport_size({"width": width, "height": 844})
                visitor.open(part)
                word = part.partition("?")[0].rpartition("/")[2]
                expect(page.locator("table.slim").first).to_be_visible()
                visitor.picture(f"{word}-{scheme}-{width}")
                wide = "e => e.scrollWidth > e.clientWidth"
                for panel in page.locator(".panel").all():
                    assert not panel.evaluate(wide), (word, width)
                visitor.check_access(word)
        visitor.check_quiet()
    finally:
        page.set_viewport_size({"width": 1600, "height": 1000})
        page.emulate_media(color_scheme="light")
        client.delete_queue(name)


def test_a_copy_is_sent_from_the_pane(visitor: Visitor, client: openmsmq.QueueManager) -> None:
    send(client, "first")
    page = visitor.open(AT)
    page.locator("[data-rows] tbody tr a").first.click()
    pane = page.locator("#right")
    pane.get_by_role("link", name="Way").click()
    expect(pane.locator("ol.way")).to_contain_text("Waits in orders")
    for width in (390, 1280, 1600):
        page.set_viewport_size({"width": width, "height": 844})
        visitor.picture(f"pane-way-{width}")
    visitor.check_access("way")
    pane.get_by_role("link", name="Body").click()
    pane.get_by_role("button", name="Send a copy…").click()
    dialog = page.locator("#send-copy")
    visitor.picture("pane-copy")
    dialog.get_by_label("Label").fill("second")
    dialog.get_by_label("Body").fill("another body")
    dialog.get_by_role("button", name="Send").click()
    with client.open_queue(ORDERS, "peek") as queue:
        wait_until(lambda: [m.label for m in queue.cursor()] == ["first", "second"])
        assert [m.body for m in queue.cursor()][1] == "another body"
    # The page is loaded anew; another one would be interrupted by it.
    expect(page.locator("#toasts")).to_contain_text("Copy sent")
    visitor.check_quiet()


def test_an_outline_never_covers_an_answer(visitor: Visitor, client: openmsmq.QueueManager) -> None:
    send(client, "first")
    page = visitor.open(AT)
    page.evaluate(
        """() => {
            const ajax = htmx.ajax.bind(htmx);
            htmx.ajax = async (...words) => {
                await ajax(...words);
                await new Promise((done) => setTimeout(done, 600));
                window.ended = true;
            };
        }"""
    )
    page.locator("[data-rows] tbody tr a").first.click()
    page.wait_for_function("() => window.ended")
    expect(page.locator("#right").get_by_role("link", name="Way")).to_be_visible()
    visitor.check_quiet()


def test_the_message_that_was_chosen_last_is_shown(
    visitor: Visitor, client: openmsmq.QueueManager
) -> None:
    send(client, "first", "second", "third")
    page = visitor.open(AT)
    page.evaluate(
        """() => {
            const fetch = window.fetch.bind(window);
            window.fetch = async (...words) => {
                await new Promise((done) => setTimeout(done, 400));
                return fetch(...words);
            };
        }"""
    )
    links = page.locator("[data-rows] tbody tr a")
    for row in range(3):
        links.nth(row).click()
    expect(page.locator("#right h2").first).to_have_text("third")
    expect(page.locator("[data-rows] tr[aria-selected=true]")).to_contain_text("third")
    page.wait_for_timeout(1000)
    expect(page.locator("#right h2").first).to_have_text("third")
    visitor.check_quiet()


def test_the_body_that_is_shown_is_copied(visitor: Visitor, client: openmsmq.QueueManager) -> None:
    client.send(ORDERS, openmsmq.Message(b'{"a": [1, "<b>"]}', "json"))
    client.flush()
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open(AT)
    page.click("[data-rows] tbody tr:nth-child(1) td:nth-child(2)")
    page.click("#right [data-copy-code]")
    expect(page.locator("#toasts")).to_contain_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert json.loads(copied) == {"a": [1, "<b>"]}
    page.click("#right a:has-text('Properties')")
    expect(page.locator("#right dt:text-is('transactional') + dd")).to_have_text("false")
    visitor.check_quiet()


def test_a_message_that_nobody_answers_for_is_shown_when_somebody_does(
    visitor: Visitor, client: openmsmq.QueueManager, manager: Watched
) -> None:
    send(client, "first", "second")
    page = visitor.open(AT)
    manager.process.send_signal(signal.SIGSTOP)
    try:
        page.click("[data-rows] tbody tr:nth-child(2) td:nth-child(2)")
        expect(page.locator("#right")).to_contain_text("The message cannot be shown now")
        expect(page.locator("#stale")).to_contain_text("The queue manager does not answer")
        visitor.picture("pane-refused-light")
        visitor.check_access("pane refused")
    finally:
        manager.process.send_signal(signal.SIGCONT)
    expect(page.locator("#right .code")).to_contain_text("body of second")
    assert all("503" in fault for fault in visitor.faults)
    visitor.faults.clear()


def test_back_on_a_telephone_shows_the_list_again(
    visitor: Visitor, client: openmsmq.QueueManager
) -> None:
    send(client, "first")
    page = visitor.page
    page.set_viewport_size({"width": 390, "height": 844})
    try:
        visitor.open(AT)
        link = page.locator("[data-rows] tbody tr a").first
        link.click()
        expect(page.locator("#right h2").first).to_have_text("first")
        expect(page.locator("#right")).to_have_attribute("data-shown", "")
        page.go_back()
        expect(page.locator("#right")).to_contain_text("No message is selected")
        expect(page.locator("#right[data-shown]")).to_have_count(0)
        page.wait_for_timeout(300)
        expect(page.locator("#right[data-shown]")).to_have_count(0)
        expect(link).to_be_visible()
    finally:
        page.set_viewport_size({"width": 1600, "height": 1000})
    visitor.check_quiet()
