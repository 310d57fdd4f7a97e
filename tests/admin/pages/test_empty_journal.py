"""The page of a journal that the figures leave out because nothing is in it."""

from collections.abc import Iterator

import pytest
from tests.admin.callers import Program, add_token
from tests.admin.console_process import Watched, wait_until, watched

JOURNAL = "/queues/private$%5Corders;journal"
pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched(tmp_path_factory.mktemp("journals"), "--name", "alpha") as running:
        running.run("queue", "create", r".\private$\orders", "--journal")
        yield running


def test_a_journal_has_its_page_before_and_after_its_first_message(manager: Watched) -> None:
    program = Program(manager, add_token(manager, "all"))

    def page(path: str = JOURNAL) -> str:
        status, _, content = program.ask("GET", path)
        assert status == 200
        return content.decode()

    empty = page()
    assert "No messages in orders;journal" in empty
    # What can be done with a queue that is there.
    assert "Export as JSON lines" in empty
    missing = page("/queues/private$%5Cnowhere;journal")
    assert "nowhere;journal" in missing
    assert "Export as JSON lines" not in missing
    manager.run("send", r".\private$\orders", "--body", "text", "--label", "kept in the journal")
    manager.run("receive", r".\private$\orders")
    wait_until(lambda: "kept in the journal" in page())
    # What was received since then is what the journal has grown by.
    wait_until(lambda: '<td class="num ">1</td></tr>' in page("/journals"))
