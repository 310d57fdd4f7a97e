"""`openmsmq transaction`."""

from tests.cli.running import Manager

import openmsmq


def test_open_transactions_are_listed(manager: Manager) -> None:
    assert "No transaction is open." in manager.run("transaction", "list").out
    with openmsmq.connect(manager.socket) as program:
        transaction = program.transaction()
        program.flush()
        line = manager.run("transaction", "list").out.splitlines()[-1]
        assert "active" in line
        listed = manager.run("transaction", "list", "--json").object
        assert (listed["state"], listed["sent"]) == ("active", 0)
        clients = manager.run("session", "clients", "--json").objects
        (client,) = (client for client in clients if client["transactions"])
        assert listed["holder"] == f"{client['principal']} (local {client['id']})"
        assert listed["holder"] in line
        for outcome in ("commit", "abort"):
            failed = manager.run("transaction", "resolve", listed["id"], outcome, "--yes")
            assert failed.code == 1
            assert "is active, and not in doubt" in failed.err
            assert "end the program" in failed.err
        transaction.abort()


def test_only_what_is_in_doubt_is_resolved(manager: Manager) -> None:
    identifier = "00000000-0000-0000-0000-000000000001"
    tried = manager.run("transaction", "resolve", identifier, "abort", "--dry-run")
    assert tried.code == 1
    assert f"there is no transaction {identifier}" in tried.err
    failed = manager.run("transaction", "resolve", identifier, "commit")
    assert "lost, or there twice" in failed.err
    assert f"there is no transaction {identifier}" in failed.err
    assert "openmsmq transaction list" in failed.err
    failed = manager.run("transaction", "resolve", "x", "commit")
    assert "is not a transaction" in failed.err
