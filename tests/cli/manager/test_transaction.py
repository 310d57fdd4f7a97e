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
        transaction.abort()


def test_only_what_is_in_doubt_is_resolved(manager: Manager) -> None:
    identifier = "00000000-0000-0000-0000-000000000001"
    shown = manager.run("transaction", "resolve", identifier, "abort", "--dry-run").out
    assert shown == f"Would resolve transaction {identifier}: abort\n"
    failed = manager.run("transaction", "resolve", identifier, "commit")
    assert "lost, or there twice" in failed.err
    assert "is not in doubt" in failed.err
    failed = manager.run("transaction", "resolve", "x", "commit")
    assert "is not a transaction" in failed.err
