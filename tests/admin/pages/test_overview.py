"""The overview for a token about some queues, and pages of queues that figures lack yet."""

from pathlib import Path

import pytest
from tests.admin.callers import Program, add_token
from tests.admin.console_process import wait_until, watched

pytestmark = pytest.mark.timeout(120)


def test_totals_are_said_to_be_those_of_all_queues(tmp_path: Path) -> None:
    with watched(tmp_path, "--name", "alpha") as manager:
        for name in ("orders", "payments"):
            manager.run("queue", "create", rf".\private$\{name}")
            manager.run("send", rf".\private$\{name}", "--body", "x", "--count", "3")
        program = Program(manager, add_token(manager, "some", "reader", "--queue", r"*\orders"))

        def page() -> str:
            return program.ask("GET", "/")[2].decode()

        wait_until(lambda: ">6<small>" in page())
        assert ">in 2 queues<" in page()
        assert "payments" not in page()
        assert ">for other machines<" in page()
        # Nobody reads it, but its messages have only just arrived.
        assert ">0 queues unread for 1 min<" in page()


def test_a_queue_that_was_just_made_has_all_its_tabs(tmp_path: Path) -> None:
    with watched(tmp_path, "--name", "alpha") as manager:
        program = Program(manager, add_token(manager, "all"))
        for tab in ("activity", "settings", "permissions", "subqueues", "delayed"):
            program.ask("GET", "/queues")
            manager.run("queue", "create", rf".\private$\{tab}")
            status, _, content = program.ask("GET", f"/queues/private$%5C{tab}/{tab}")
            assert status == 200, content
            assert f">{tab}</h1>" in content.decode()
