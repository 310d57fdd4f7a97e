"""Rows of links."""

from typing import Any

import pytest

from openmsmq.admin.pages.rows import by_next_hop, is_down, link_row, link_words

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


def test_a_link_that_is_connected_or_paused_is_not_down() -> None:
    failed = {"last_error": "refused", "messages": 1}
    assert is_down({**QUIET, **failed})
    for state in ("CONNECTED", "ONHOLD"):
        assert not is_down({**QUIET, **failed, "state": state})


def outgoing(host: str, queue: str, **facts: Any) -> dict[str, Any]:
    return {
        **QUIET,
        "destination": rf"DIRECT=TCP:{host}\private$\{queue}",
        "next_hop": host,
        "bytes": 100,
        "unacknowledged": 1,
        "awaiting_final_ack": 0,
        "oldest_message_age_seconds": None,
        "reason": "",
        "transport": "binary",
        "history": [],
        **facts,
    }


def test_queues_with_the_same_next_hop_are_one_link() -> None:
    rows = [
        link_row(info)
        for info in (
            outgoing("10.0.0.8", "a", messages=1),
            outgoing("10.0.0.9", "a", state="CONNECTED", messages=2),
            outgoing("10.0.0.9", "b", last_error="refused", reason="refused", messages=3),
        )
    ]
    rows[1].oldest = 20.0
    first, second = by_next_hop(rows)
    assert (first.name, first.queues, first.messages, first.bytes) == ("10.0.0.9", 2, 5, 200)
    # The worst state of its queues is that of the link, and its page is the list of these.
    assert (first.tone, first.words, first.oldest) == ("bad", "down", 20.0)
    assert first.href == "/outgoing?next_hop=10.0.0.9"
    assert second == rows[0]
