"""`openmsmq health`: whether the queue manager is well, for containers and scripts."""

from typing import Annotated, Final

import typer

from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.output import JsonOption, print_json
from openmsmq.wire.errors import MsmqError

# How long the queue manager has to answer.
ANSWER_SECONDS: Final = 2.0


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("health")(health)


def health(
    *,
    ready: Annotated[
        bool, typer.Option("--ready", help="It must also be ready, take messages and listen.")
    ] = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Say whether the queue manager is well: exit code 0, or 1 with what is wrong."""
    from openmsmq.admin.health_checks import no_answer, ready_checks
    from openmsmq.client import connect

    try:
        with connect(None if socket is None else str(socket), timeout=ANSWER_SECONDS) as manager:
            checks = ready_checks(manager.status())
    except MsmqError as exc:
        checks = no_answer(str(exc))
    if not ready:
        checks = checks[:1]
    failed = [check for check in checks if not check.passed]
    if as_json:
        print_json(
            {"ok": not failed, "checks": {check.name: check.detail or None for check in checks}}
        )
    elif failed:
        for check in failed:
            typer.echo(f"openmsmq health: {check.name}: {check.detail}", err=True)
    else:
        typer.echo("ok")
    if failed:
        raise typer.Exit(1)
