"""`openmsmq reload`: makes the queue manager read its files again, as SIGHUP does."""

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption, print_json, say


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("reload")(reporting("reload", reload))


def reload(*, as_json: JsonOption = False, socket: SocketOption = None) -> None:
    """Reload tokens, certificates, quotas and the log level."""
    with connect(socket) as manager:
        result = manager.reload()
    if as_json:
        print_json(result)
    else:
        say(f"Reloaded {', '.join(result['reloaded']) or 'nothing'}")
        for key, reason in result["failed"].items():
            say(f"{key}: {reason}; what was in force before stays", err=True)
    if result["failed"]:
        raise typer.Exit(1)
