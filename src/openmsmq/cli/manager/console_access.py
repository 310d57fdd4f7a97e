"""`openmsmq console link` and `console token`: access to the console."""

import json
import os
import socket as sockets
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from openmsmq.cli.failure import Explanation, reporting
from openmsmq.cli.groups import Commands, add_group
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.options.data_directory import DataOption, managed_directory
from openmsmq.cli.output import Column, JsonOption, print_json, print_table, say
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.errors import ConfigError

if TYPE_CHECKING:
    from openmsmq.admin.trust.tokens import Tokens

ANSWER_SECONDS: Final = 10.0
# A console is there a moment after its queue manager.
START_SECONDS: Final = 5.0
PAUSE_SECONDS: Final = 0.1
_COLUMNS: Final = (
    Column("Name", cut=True),
    Column("Principal"),
    Column("Role"),
    Column("Queues", optional=True),
    Column("Ends", optional=True),
)
_EXPLANATION: Final = Explanation(
    Hresult.MQ_ERROR_INVALID_PARAMETER,
    cause="The name, an option, or the file of tokens.",
    remedy="Check them; nothing was changed.",
)
TokensOption = Annotated[
    Path | None,
    typer.Option("--tokens", metavar="FILE", help="File of tokens [DATA/console/tokens.json]."),
]


def register(group: typer.Typer) -> None:
    """Add the commands to the group `console`."""
    group.command("link")(reporting("console link", link))
    commands: Commands = {"add": add, "list": list_tokens, "remove": remove}
    add_group(
        group,
        "token",
        commands,
        help_text="Manage tokens for the console and the HTTP API.",
        explanation=_EXPLANATION,
    )


def link(
    *,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of a console that runs alone."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(metavar="URL", help="URL of a console that runs alone."),
    ] = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Print a link that signs you in at the console. It works once, within 60 seconds."""
    if folder is None or address is None:
        with connect(socket) as manager:
            status = manager.status()
        endpoint = status["endpoints"].get("console")
        if endpoint is None and address is None:
            raise ConfigError(
                "the queue manager has no console",
                remedy="Start it with --console-port, or name --folder and --address of a console "
                "that runs alone.",
            )
        folder = folder or Path(status["data"]) / "console"
        address = address or f"http://{endpoint}"
    answer = _ask(folder / "link.sock", START_SECONDS)
    base = address.rstrip("/")
    if answer["tls"]:
        base = base.replace("http://", "https://", 1)
    url = base + answer["path"]
    if as_json:
        print_json({**answer, "url": url})
    else:
        typer.echo(url)


def _ask(path: Path, seconds: float) -> dict[str, Any]:
    """The answer of a console at its socket, once it is there.

    Raises:
        ConfigError: none listens there within this time.
    """
    deadline = time.monotonic() + seconds
    try:
        with sockets.socket(sockets.AF_UNIX) as connection:
            connection.settimeout(ANSWER_SECONDS)
            while error := connection.connect_ex(str(path)):
                if time.monotonic() >= deadline:
                    raise OSError(error, os.strerror(error))
                time.sleep(PAUSE_SECONDS)
            with connection.makefile("rb") as lines:
                answer: dict[str, Any] = json.loads(lines.readline())
                return answer
    except (OSError, ValueError) as exc:
        raise ConfigError(
            f"no console answers at {path}: {exc}",
            remedy="`openmsmq status` says whether the queue manager runs, and with a console.",
        ) from exc


def _tokens(file: Path | None, data: Path | None, socket: Path | None) -> "Tokens":
    # Loaded only here: it takes longer than most commands.
    from openmsmq.admin.trust.tokens import Tokens

    return Tokens(file or managed_directory(data, socket) / "console" / "tokens.json")


def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the token.")],
    *,
    principal: Annotated[
        str,
        typer.Option(metavar="PRINCIPAL", help="Principal of the token: user:NAME or a SID."),
    ],
    role: Annotated[
        str, typer.Option(metavar="ROLE", help="reader, operator or administrator.")
    ] = "reader",
    bodies: Annotated[bool, typer.Option("--bodies", help="Let a reader see bodies.")] = False,
    queue: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help=r"Only these queues, such as 'private$\shop.*'."),
    ] = None,
    ends: Annotated[
        str | None, typer.Option(metavar="TIME", help="End of its validity (ISO 8601).")
    ] = None,
    tokens: TokensOption = None,
    data: DataOption = None,
    socket: SocketOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a token and print it; it is shown only once."""
    from openmsmq.admin.trust.tokens import Token, digest_of, new_token, parse_end

    secret = new_token()
    try:
        entry = Token(
            name=name,
            sha256=digest_of(secret),
            principal=principal,
            role=_role(role),
            bodies=bodies,
            queues=tuple(queue or ()),
            ends=None if ends is None else parse_end(ends),
        )
    except ValueError as exc:
        raise ConfigError(str(exc)) from exc
    _tokens(tokens, data, socket).add(entry)
    if as_json:
        print_json({"name": name, "token": secret, "principal": principal, "role": role})
    else:
        typer.echo(secret)


def _role(text: str) -> Any:
    from openmsmq.admin.trust.person import ROLES

    if text not in ROLES:
        raise ConfigError(f"{text!r} is not a role", remedy=f"Choose one of {', '.join(ROLES)}.")
    return text


def list_tokens(
    *,
    tokens: TokensOption = None,
    data: DataOption = None,
    socket: SocketOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the tokens, without their secrets."""
    entries = _tokens(tokens, data, socket).all()
    if as_json:
        for entry in entries:
            ends = None if entry.ends is None else entry.ends.isoformat()
            print_json(
                {
                    "name": entry.name,
                    "principal": entry.principal,
                    "role": entry.role,
                    "bodies": entry.bodies,
                    "queues": list(entry.queues),
                    "ends": ends,
                }
            )
        return
    rows = [
        (
            entry.name,
            entry.principal,
            entry.role + (", bodies" if entry.bodies and entry.role == "reader" else ""),
            ", ".join(entry.queues) or "all",
            "" if entry.ends is None else entry.ends.isoformat(),
        )
        for entry in entries
    ]
    print_table(_COLUMNS, rows)


def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the token.")],
    *,
    tokens: TokensOption = None,
    data: DataOption = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Remove a token and end its sessions."""
    if not _tokens(tokens, data, socket).remove(name):
        raise ConfigError(f"there is no token named {name!r}")
    if as_json:
        print_json({"name": name, "removed": True})
    else:
        say(f"Removed {name}")
