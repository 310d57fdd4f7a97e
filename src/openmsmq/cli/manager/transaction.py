"""`openmsmq transaction`: lists open transactions, and ends one in doubt."""

from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.confirmation import DryRunOption, YesOption, confirm
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import Column, JsonOption, print_json, say, screen_width, table_lines
from openmsmq.terminal.quantities import count_text, duration_text

_HELP: Final = "List open transactions; end one in doubt."
_COLUMNS: Final = (
    Column("Transaction"),
    Column("State"),
    Column("Age", right=True),
    Column("Sent", right=True),
    Column("Received", right=True),
    Column("Moved", right=True),
    Column("Holder", cut=True),
)
_STATES: Final = {"prepared": "in doubt", "committed": "committed, not confirmed"}


WARNING: Final = (
    "The coordinator may have decided otherwise: then messages are lost, or there twice."
)


class Outcome(StrEnum):
    """How a transaction ends."""

    COMMIT = "commit"
    ABORT = "abort"


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    group = typer.Typer(help=_HELP, rich_markup_mode=None, no_args_is_help=True)
    group.command("list")(reporting("transaction list", list_transactions))
    group.command("resolve")(reporting("transaction resolve", resolve))
    app.add_typer(group, name="transaction")


def list_transactions(*, as_json: JsonOption = False, socket: SocketOption = None) -> None:
    """List open transactions. Those in doubt wait for their coordinator."""
    with connect(socket) as manager:
        transactions = manager.transactions()
    if as_json:
        for transaction in transactions:
            print_json(transaction)
    elif transactions:
        for line in table_lines(
            _COLUMNS, [_row(transaction) for transaction in transactions], screen_width()
        ):
            typer.echo(line)
    else:
        typer.echo("No transaction is open.")


def _row(transaction: dict[str, Any]) -> tuple[str, ...]:
    age = transaction["age_seconds"]
    state = transaction["state"]
    return (
        transaction["id"],
        _STATES.get(state, state),
        "" if age is None else duration_text(age),
        count_text(transaction["sent"]),
        count_text(transaction["received"]),
        count_text(transaction["moved"]),
        transaction["holder"],
    )


def resolve(
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="Id, from `openmsmq transaction list`.")
    ],
    outcome: Annotated[Outcome, typer.Argument(help="How it ends.")],
    *,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """End a transaction in doubt by hand.

    Its coordinator may have decided otherwise: then messages are lost or duplicated. Use this only
    if the coordinator will not return, or if you know its decision.
    """
    with connect(socket) as manager:
        if not dry_run:
            typer.echo(WARNING, err=True)
            confirm(f"{outcome.value.capitalize()} transaction {identifier}?", yes=yes)
        manager.resolve_transaction(identifier, commit=outcome is Outcome.COMMIT, dry_run=dry_run)
    if as_json:
        print_json({"id": identifier, "outcome": outcome.value, "dry_run": dry_run})
    else:
        did = "Would resolve" if dry_run else "Resolved"
        say(f"{did} transaction {identifier}: {outcome.value}")
