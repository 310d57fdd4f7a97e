"""`openmsmq peek`: looks at messages and leaves them where they are."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import typer

from openmsmq.cli.failure import FAILED, reporting
from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.options.remote import (
    AuthOption,
    LevelOption,
    PasswordFileOption,
    UserOption,
    connect_to,
)
from openmsmq.cli.output import JsonOption

from .output import MessagePrinter, OutputClosed, make_style
from .reading import (
    AllOption,
    CountOption,
    FollowOption,
    LookupIdOption,
    RawOption,
    SeparatorOption,
    SourceArgument,
    TimeoutOption,
    end,
    keeps_copies,
    limit_of,
    timeout_of,
)

if TYPE_CHECKING:
    from openmsmq.client import ReceivedMessage


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("peek")(reporting("peek", peek))


def peek(
    source: SourceArgument,
    *,
    count: CountOption = None,
    everything: AllOption = False,
    timeout: TimeoutOption = None,
    follow: FollowOption = False,
    lookup_id: LookupIdOption = None,
    raw: RawOption = False,
    separator: SeparatorOption = None,
    user: UserOption = None,
    password_file: PasswordFileOption = None,
    auth: AuthOption = None,
    level: LevelOption = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Look at messages without removing them.

    The exit code is 3 when no message came in time.
    """
    limit = limit_of(count, everything=everything, follow=follow)
    wait = timeout_of(timeout, follow=follow)
    style = make_style(as_json=as_json, raw=raw, separator=separator)
    printer = MessagePrinter(style, kept=keeps_copies(source))
    try:
        with (
            connect_to(
                source, socket, user=user, password_file=password_file, auth=auth, level=level
            ) as manager,
            manager.open_queue(source, "peek") as queue,
        ):
            found: Iterator[ReceivedMessage]
            if lookup_id:
                found = map(queue.peek_by_lookup_id, lookup_id)
            else:
                found = islice(queue.cursor(wait), limit)
            for message in found:
                printer.show(message)
    except OutputClosed:
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        typer.echo(err=True)
    end(printer.count)
