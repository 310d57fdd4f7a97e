"""The overview for somebody whose token is about some queues."""

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
