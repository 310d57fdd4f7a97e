"""A console that fails: what people and programs are told."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import expect, sync_playwright
from tests.admin.browser import CHROMIUM, FLAGS, Visitor, needs_chromium
from tests.admin.callers import Client
from tests.admin.console_process import wait_until

import openmsmq
from openmsmq.admin.app import build_app
from openmsmq.admin.console import Console
from openmsmq.admin.pages import site
from openmsmq.admin.settings import ConsoleSettings
from openmsmq.admin.trust.problems import STATUS_TEXTS, Problem
from openmsmq.admin.trust.tokens import Token, Tokens, digest_of

pytestmark = pytest.mark.timeout(120)
TOKEN = "secret"
INSIDE = "what only the log may have"


async def fail(*arguments: Any) -> dict[str, Any]:
    raise RuntimeError(INSIDE)


def broken_list(tokens: Tokens) -> list[Token]:
    raise RuntimeError(INSIDE)


@pytest.fixture
def address(
    msmq: openmsmq.QueueManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A console whose page of jobs and whose list of tokens fail."""
    broken = site.Page("/jobs", "jobs.html", "jobs", fail)
    pages = [broken if page.path == broken.path else page for page in site.PAGES]
    monkeypatch.setattr(site, "PAGES", tuple(pages))
    file = tmp_path / "tokens.json"
    Tokens(file).add(
        Token(name="all", sha256=digest_of(TOKEN), principal="user:root", role="administrator")
    )
    monkeypatch.setattr(Tokens, "all", broken_list)
    settings = ConsoleSettings(address=msmq.address, console_tokens=file)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(build_app(Console(settings)), log_config=None, ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            wait_until(lambda: server.started)
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def test_a_program_is_told_that_the_console_failed(address: str) -> None:
    client = Client(address, TOKEN)
    status, headers, content = client.ask("GET", "/api/v1/tokens")
    error = json.loads(content)["error"]
    assert (status, error["name"]) == (500, "HTTP_500")
    assert "log of the queue manager" in error["cause"]
    assert error["remedy"]
    assert INSIDE not in content.decode()
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"
    # The console goes on.
    assert client.get("/me")["principal"] == "user:root"


@needs_chromium
def test_people_see_a_page_that_says_what_to_do(address: str) -> None:
    with sync_playwright() as program:
        browser = program.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        try:
            context = browser.new_context(viewport={"width": 1600, "height": 1000})
            visitor = Visitor(context, f"http://{address}")
            page = visitor.open("/jobs")
            page.fill("[name=token]", TOKEN)
            page.keyboard.press("Enter")
            expect(page.locator("h1")).to_have_text("The console failed")
            shown = page.locator("main")
            expect(shown).to_contain_text("500")
            expect(shown).to_contain_text("The log of the queue manager says more")
            expect(shown).to_contain_text("Try again")
            assert INSIDE not in page.content()
            for theme in ("light", "dark"):
                page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
                visitor.picture(f"failed-{theme}")
                visitor.check_access(f"failed {theme}")
            page.set_viewport_size({"width": 390, "height": 844})
            visitor.picture("failed-390")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            page.click("text=Overview")
            expect(page.locator(".app")).to_be_visible()
            assert all("401" in fault or "500" in fault for fault in visitor.faults)
        finally:
            browser.close()


@pytest.mark.parametrize("status", STATUS_TEXTS)
def test_every_refusal_has_a_cause_and_a_remedy(status: int) -> None:
    record = Problem(status, "Something was refused.").record
    assert record.cause.endswith(".")
    assert record.remedy.endswith(".")
