"""Transactions in doubt in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.admin.browser import needs_chromium, visiting
from tests.admin.metrics.faulty_machine import (
    lose_a_coordinator,
    machine_at,
    transaction_settings,
)
from tests.interop.loopback import new_address

expect.set_options(timeout=30_000)
pytestmark = [needs_chromium, pytest.mark.timeout(200)]


def test_a_transaction_that_came_into_doubt_under_an_open_page_is_resolved(
    tmp_path: Path,
) -> None:
    settings = transaction_settings(new_address(), new_address())
    with machine_at(tmp_path / "far", **settings) as machine, visiting(machine.manager) as visitor:
        visitor.sign_in(machine.manager)
        page = visitor.open("/transactions")
        expect(page.locator(".empty")).to_contain_text("No open transactions")
        lose_a_coordinator(machine)
        row = page.locator("tr:has-text('in doubt')")
        expect(row).to_have_count(1)
        number = row.locator("td").first.inner_text()
        page.set_viewport_size({"width": 390, "height": 844})
        expect(row.locator("button")).to_be_in_viewport(ratio=1)
        row.locator("button").click()
        dialog = page.locator("#resolve")
        expect(dialog.locator("h2")).to_have_text(f"Resolve {number}?")
        visitor.picture("resolve-390")
        visitor.check_access("resolve")
        dialog.locator("[value=commit]").check()
        dialog.locator(".danger.solid").click()
        expect(page.locator("#toasts")).to_contain_text("The transaction is resolved")
        expect(page.locator(".empty")).to_contain_text("No open transactions")
        visitor.check_quiet()
