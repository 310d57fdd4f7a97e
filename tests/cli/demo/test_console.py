"""The console of the demonstration."""

import urllib.request

import pytest
from tests.cli.runner import run

from openmsmq.cli.demo import console
from openmsmq.cli.demo.console import PAGES, console_of
from openmsmq.cli.demo.transfer import two_queue_managers


def test_the_link_opens_the_console_with_the_messages_of_the_demonstration() -> None:
    jar = urllib.request.HTTPCookieProcessor()
    browser = urllib.request.build_opener(jar)
    with two_queue_managers() as pair, console_of(pair) as console:
        with browser.open(console.link(), timeout=60) as answer:
            assert "beta" in answer.read().decode()
        with browser.open(f"{console.address}/queues/private$%5Cexact", timeout=60) as answer:
            assert "Payment 0" in answer.read().decode()


def test_a_page_without_what_it_has_to_show_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "SHOW_SECONDS", 0.2)
    pages = {"/": "no such word", "/no-such-page": "", "/metrics": PAGES["/metrics"]}
    monkeypatch.setattr(console, "PAGES", pages)
    outcome = run("demo", "--no-spark", "--keep")
    assert outcome.code == 1
    assert outcome.out.count("NOT AS IT SHOULD BE") == 2
    assert "/metrics                    shown" in outcome.out
