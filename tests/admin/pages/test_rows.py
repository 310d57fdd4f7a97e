"""Rows of links."""

from typing import Any

import pytest

from openmsmq.admin.pages.rows import link_words

QUIET: dict[str, Any] = {
    "state": "NEED_VALIDATE",
    "last_error": "",
    "messages": 0,
    "retry_in_seconds": None,
}


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, ("faint", "idle")),
        ({"state": "ONHOLD", "last_error": "refused", "messages": 1}, ("warn", "paused")),
        ({"state": "CONNECTED", "last_error": "refused", "messages": 1}, ("ok", "connected")),
        ({"last_error": "refused", "messages": 1}, ("bad", "down")),
        (
            {"last_error": "refused", "messages": 1, "retry_in_seconds": 12.0},
            ("bad", "retry in 12 s"),
        ),
        ({"messages": 1}, ("faint", "need validate")),
        # Nothing waits for it: its last error harms nobody.
        ({"last_error": "refused"}, ("faint", "idle")),
    ],
)
def test_a_link_in_words(facts: dict[str, Any], words: tuple[str, str]) -> None:
    assert link_words({**QUIET, **facts}) == words
