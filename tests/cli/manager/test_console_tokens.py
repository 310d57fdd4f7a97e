"""`openmsmq console token`: whose tokens they are."""

import pytest
from tests.cli.runner import run
from tests.cli.running import Manager

from openmsmq.admin.trust.tokens import Tokens


@pytest.mark.parametrize("named", ["option", "environment"])
def test_tokens_are_those_of_the_queue_manager_that_is_named(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    words = ["--socket", manager.socket] if named == "option" else []
    if named == "environment":
        monkeypatch.setenv("OPENMSMQ_SOCKET", manager.socket)
    who = ("--principal", "user:root", "--role", "reader")
    added = run("console", "token", "add", named, *who, *words)
    assert added.code == 0, added.err
    file = Tokens(manager.data / "console" / "tokens.json")
    assert [entry.name for entry in file.all()] == [named]
    assert named in run("console", "token", "list", *words).out
    removed = run("console", "token", "remove", named, *words)
    assert removed.code == 0, removed.err
    assert file.all() == []
