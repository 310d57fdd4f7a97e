"""Chromium at the console of a queue manager, which notes everything that should not happen."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, Request, sync_playwright
from tests.admin.console_process import Watched, wait_until
from tools.catalogue import ROOT

CHROMIUM: Final = os.environ.get("CHROMIUM") or shutil.which("chromium")
FLAGS: Final = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)
PICTURES: Final = ROOT / "build" / "console"
MILLISECONDS: Final = 60_000
AXE: Final = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="needs the program chromium (Debian: chromium)"
)


class Visitor:
    """A browser window, and what went wrong in it."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self.context = context
        self.base = base
        self.faults: list[str] = []
        self.page: Page = context.new_page()
        self.page.set_default_timeout(MILLISECONDS)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("request", self._asked)
        self.page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self.base, "data:", "blob:")):
            self.faults.append(f"request to {request.url}")

    def new_context(self) -> BrowserContext:
        """Another browser window that shares nothing with this one."""
        browser = self.context.browser
        assert browser is not None
        return browser.new_context(viewport={"width": 1600, "height": 1000})

    def sign_in(self, manager: Watched) -> None:
        """Sign in with a link, as soon as the console hands them out."""
        wait_until((manager.data / "console" / "link.sock").exists)
        link = manager.run("console", "link").out.strip()
        self.page.goto(link)
        self.page.wait_for_selector(".app")

    def open(self, path: str) -> Page:
        """Open a page of the console."""
        self.page.goto(self.base + path)
        return self.page

    def picture(self, name: str) -> None:
        """Keep a picture of what is shown."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(PICTURES / f"{name}.png"))

    def check_access(self, what: str) -> None:
        """Everybody can use what is shown: axe finds nothing."""
        found = Axe().run(self.page, options=AXE)
        assert found.violations_count == 0, f"{what}: {found.generate_report()}"

    def check_quiet(self) -> None:
        """Nothing went wrong since the last time."""
        faults, self.faults = self.faults, []
        assert faults == [], faults


@contextmanager
def visiting(manager: Watched, **options: Any) -> Iterator[Visitor]:
    """A browser with a profile of its own."""
    with sync_playwright() as program:
        browser = program.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        try:
            context = browser.new_context(viewport={"width": 1600, "height": 1000}, **options)
            yield Visitor(context, f"http://{manager.console}")
        finally:
            browser.close()
