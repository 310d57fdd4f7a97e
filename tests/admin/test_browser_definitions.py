"""Definitions in a real browser: shown first, then applied."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.admin.browser import Visitor, needs_chromium, visiting
from tests.admin.console_process import watched

import openmsmq

expect.set_options(timeout=30_000)
pytestmark = [needs_chromium, pytest.mark.timeout(200)]
REFUSED = "error: Failed to load resource: the server responded with a status of 422"
FILE = """[[queues]]
path = 'private$\\orders'
quota = 1000

[[queues]]
path = 'private$\\<b>new'
label = "made by a file"
"""


def show(page: Page) -> None:
    page.click("[data-show-plan]")
    expect(page.locator("#plan")).to_be_focused()


def rows(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.locator("#plan tbody tr").all_inner_texts()]


def check_looks(visitor: Visitor, name: str) -> None:
    for theme in ("light", "dark"):
        visitor.page.evaluate("t => { document.documentElement.dataset.theme = t }", theme)
        visitor.picture(f"{name}-{theme}")
        visitor.check_access(f"{name} {theme}")


def test_a_file_is_applied_as_it_was_shown(tmp_path: Path) -> None:
    with watched(tmp_path) as manager, openmsmq.connect(manager.socket) as client:
        client.create_queue(".\\private$\\orders")
        other = client.create_queue(".\\private$\\other")
        other.send_many(openmsmq.Message(str(number)) for number in range(120))
        with visiting(manager) as visitor:
            visitor.sign_in(manager)
            page = visitor.open("/definitions")
            page.set_input_files(
                "input[type=file]",
                {"name": "queues.toml", "mimeType": "text/plain", "buffer": FILE.encode()},
            )
            expect(page.locator("textarea")).to_have_value(FILE)
            show(page)
            assert rows(page) == [
                "change queue private$\\orders quota: none → 1000",
                "create queue private$\\<b>new",
                "stays queue private$\\other not in the file",
            ]
            check_looks(visitor, "definitions-plan")
            page.click("text=Apply 2 changes…")
            dialog = page.locator("#apply")
            expect(dialog).to_contain_text("What the file does not list stays: 1.")
            expect(dialog.locator(".notice")).to_be_hidden()
            # Nothing is done before it is confirmed.
            assert not client.queue_exists(".\\private$\\<b>new")
            dialog.locator("[data-go]").click()
            expect(page.locator("#toasts")).to_contain_text("2 changes made")
            expect(page.locator(".code.tall")).to_contain_text("made by a file")
            assert client.queue_info(".\\private$\\<b>new")["label"] == "made by a file"
            visitor.open("/audit")
            entry = page.locator("tr:has-text('apply definitions')").first
            expect(entry.locator("td:nth-child(6)")).to_contain_text("2")
            expect(entry).to_contain_text("done")
            visitor.check_quiet()


def test_what_is_deleted_is_named_and_counted(tmp_path: Path) -> None:
    with watched(tmp_path) as manager, openmsmq.connect(manager.socket) as client:
        client.create_queue(".\\private$\\orders")
        other = client.create_queue(".\\private$\\other")
        other.send_many(openmsmq.Message(str(number)) for number in range(120))
        with visiting(manager) as visitor:
            visitor.sign_in(manager)
            page = visitor.open("/definitions")
            page.fill("textarea", FILE)
            expect(page.locator("[name=force]")).to_be_disabled()
            page.check("[name=prune]")
            show(page)
            refusal = page.locator("#plan .notice")
            expect(refusal).to_contain_text("private$\\other is not listed and holds 120 messages")
            expect(refusal).to_contain_text("nothing was changed")
            expect(refusal).to_contain_text("delete it with its messages: --force")
            expect(page.locator("[data-apply-plan]")).to_be_hidden()
            assert [fault.partition(" (")[0] for fault in visitor.faults] == [REFUSED]
            visitor.faults.clear()
            page.check("[name=force]")
            show(page)
            assert rows(page)[0] == "delete queue private$\\other with 120 messages"
            # Another file or option: what is shown is not what would be done.
            page.check("[name=recreate]")
            expect(page.locator("[data-apply-plan]")).to_be_hidden()
            show(page)
            # What was shown is old: it is shown anew, and not asked for yet.
            client.create_queue(".\\private$\\third")
            page.click("[data-apply-plan]")
            expect(page.locator("[data-plan-words]")).to_contain_text("It is different now")
            assert page.locator("#apply[open]").count() == 0
            other.send("one more")
            client.flush()
            page.click("[data-apply-plan]")
            dialog = page.locator("#apply")
            expect(dialog.locator(".notice b")).to_have_text("2 to delete, with 121 messages")
            assert dialog.locator("li").all_inner_texts() == [
                "queue private$\\other, 121 messages",
                "queue private$\\third",
            ]
            check_looks(visitor, "definitions-apply")
            page.set_viewport_size({"width": 390, "height": 844})
            visitor.picture("definitions-apply-390")
            page.keyboard.type("120")
            page.keyboard.press("Enter")
            assert page.locator("#apply[open]").count() == 1
            page.keyboard.press("Control+a")
            page.keyboard.type("121")
            page.keyboard.press("Enter")
            expect(page.locator("#toasts")).to_contain_text("4 changes made")
            left = {info["path"].partition("\\")[2] for info in client.queues()}
            assert left == {"private$\\<b>new", "private$\\orders"}
            visitor.check_quiet()
