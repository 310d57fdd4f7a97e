"""`openmsmq export`: prints queues and permissions as a file of definitions."""

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption


def register(app: typer.Typer) -> None:
    app.command("export")(reporting("export", export))


def export(
    *,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Print queues, permissions, paused outgoing queues and redirections as TOML, or as JSON."""
    from openmsmq.wire.definitions.writing import write_json, write_toml

    with connect(socket) as manager:
        definitions = manager.export_definitions()
    typer.echo(write_json(definitions) if as_json else write_toml(definitions), nl=False)
