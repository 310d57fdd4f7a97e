"""`openmsmq queue explain` and `queue readers`: the state and the users of a queue."""

from typing import Annotated, Any, Final

import typer

from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import Column, JsonOption, print_json, print_table
from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import count_text, duration_text, size_text

from .arguments import PathArgument

_READER_COLUMNS: Final = (
    Column("Who", cut=True),
    Column("Access"),
    Column("Exclusive"),
    Column("Locked", right=True),
    Column("Waiting reads", right=True),
    Column("Cursors", right=True, optional=True),
    Column("Handle", right=True, optional=True),
)
_ACCESS_COLUMNS: Final = (Column("Right"), Column("Allowed"), Column("Why", cut=True))


def explain(
    path: PathArgument,
    *,
    principal: Annotated[
        str | None,
        typer.Option(metavar="WHO", help="Explain the rights of this user or group."),
    ] = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Explain the state of a queue.

    The text has what it accepts, who may use it, and why its messages stay.
    """
    from openmsmq.care.explain import explain_queue

    with connect(socket) as manager:
        if principal is not None:
            answers = manager.explain_access(path, principal)
            print_access({"path": path, "principal": principal}, answers, as_json=as_json)
            return
        sentences = explain_queue(manager, path, size_text, duration_text)
    if as_json:
        print_json({"path": path, "sentences": sentences})
    else:
        for sentence in sentences:
            typer.echo(printable(sentence))


def print_access(about: dict[str, str], answers: list[dict[str, Any]], *, as_json: bool) -> None:
    """Print each right, whether it is allowed, and the reason."""
    if as_json:
        for answer in answers:
            print_json({**about, **answer})
        return
    print_table(
        _ACCESS_COLUMNS,
        [
            (answer["right"], "yes" if answer["allowed"] else "no", answer["reason"])
            for answer in answers
        ],
    )


def readers(
    path: PathArgument, *, as_json: JsonOption = False, socket: SocketOption = None
) -> None:
    """List the readers of a queue, with their locks and waiting reads."""
    with connect(socket) as manager:
        entries = manager.readers(path)
    if as_json:
        for entry in entries:
            print_json(entry)
    elif entries:
        print_table(_READER_COLUMNS, [_row(entry) for entry in entries])
    else:
        typer.echo("No reader has the queue open.")


def _row(reader: dict[str, Any]) -> tuple[str, ...]:
    return (
        reader["principal"],
        reader["access"],
        "yes" if reader["exclusive"] else "",
        count_text(reader["locked_messages"]),
        count_text(reader["waiting_reads"]),
        count_text(reader["cursors"]),
        str(reader["handle"]),
    )
