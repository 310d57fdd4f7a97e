"""`openmsmq console`: the console alone, for a queue manager that runs without one."""

import socket as sockets
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.connection import SocketOption
from openmsmq.wire.errors import ConfigError

from . import console_access

BACKLOG: Final = 128


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    group = typer.Typer(
        help="Run the web console alone, for a queue manager without one.",
        invoke_without_command=True,
    )
    group.callback()(reporting("console", console))
    console_access.register(group)
    app.add_typer(group, name="console")


def console(
    context: typer.Context,
    *,
    bind: Annotated[str, typer.Option(metavar="ADDR", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="PORT", help="0 for any free port.")
    ] = 8780,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for history and jobs; default: none."),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Certificate for HTTPS (PEM).")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Key of the certificate (PEM).")
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another host name of the console."),
    ] = None,
    tokens: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Tokens for the API and the metrics.")
    ] = None,
    socket: SocketOption = None,
) -> None:
    """Run the web console alone, for a queue manager that runs without one."""
    if context.invoked_subcommand is not None:
        return
    if (certificate is None) != (key is None):
        raise typer.BadParameter("--certificate needs --key, and the other way round")
    # Loaded only here: help and wrong usage need no web framework.
    from openmsmq.admin.process import ConsoleServer
    from openmsmq.admin.settings import ConsoleSettings
    from openmsmq.client.address import environment_token
    from openmsmq.net.local.paths import default_socket

    options: dict[str, Any] = {"token": environment_token()} if _is_tcp(socket) else {}
    settings = ConsoleSettings(
        address=str(default_socket() if socket is None else socket),
        folder=folder,
        bound=bind,
        console_certificate=certificate,
        console_key=key,
        console_hosts=tuple(host or ()),
        console_tokens=tokens,
        **options,
    )
    with _listen(bind, port) as listener:
        where = listener.getsockname()
        scheme = "http" if certificate is None else "https"
        shown_host = f"[{where[0]}]" if ":" in where[0] else where[0]
        typer.echo(f"console    {scheme}://{shown_host}:{where[1]}/")
        ConsoleServer(settings, listener, watch_parent=False).run()


def _is_tcp(socket: Path | None) -> bool:
    from openmsmq.client.address import split_host
    from openmsmq.net.local.paths import default_socket

    return split_host(str(default_socket() if socket is None else socket)) is not None


def _listen(bind: str, port: int) -> sockets.socket:
    """A socket that listens.

    Raises:
        ConfigError: the port cannot be bound.
    """
    try:
        family = sockets.AF_INET6 if ":" in bind else sockets.AF_INET
        return sockets.create_server((bind, port), family=family, backlog=BACKLOG)
    except OSError as exc:
        raise ConfigError(
            f"port: {bind}:{port}: {exc.strerror or exc}",
            remedy="Stop what uses it, or choose another --port or --bind.",
        ) from exc
