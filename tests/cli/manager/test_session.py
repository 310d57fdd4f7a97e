"""`openmsmq session`: sessions, clients, and hanging up."""

from contextlib import suppress

import pytest
from tests.cli.running import Manager

import openmsmq


def test_clients_are_listed_and_hung_up_on(manager: Manager, queue: str) -> None:
    with openmsmq.connect(manager.socket) as program:
        program.open_queue(queue, "receive").close()
        before = {each["id"] for each in program.clients()}
        assert "this machine" in manager.run("session", "clients").out
        victim = openmsmq.connect(manager.socket)
        (new,) = {each["id"] for each in program.clients()} - before
        command = ("session", "hangup", "local", str(new))
        tried = manager.run(*command, "--dry-run")
        assert tried.out == f"Would hang up on local {new}\n"
        victim.status()
        done = manager.run(*command, "--json").object
        assert done == {"protocol": "local", "number": new, "dry_run": False}
        with pytest.raises(openmsmq.ConnectionLost):
            victim.status()
        with suppress(openmsmq.ConnectionLost):
            victim.close()
        for option in ((), ("--dry-run",)):
            gone = manager.run(*command, *option)
            assert gone.code == 1
            assert "neither a session nor a client" in gone.err


def test_without_sessions_the_list_says_so(manager: Manager) -> None:
    assert manager.run("session", "list").out == "There is no session.\n"
    assert manager.run("session", "list", "--json").out == ""
