"""`openmsmq peek`: reads messages without removing them."""

import typer

from openmsmq.cli.care.options import WhereOption
from openmsmq.cli.failure import reporting
from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.options.remote import (
    AuthOption,
    LevelOption,
    PasswordFileOption,
    UserOption,
    connect_to,
)
from openmsmq.cli.output import JsonOption

from .output import make_style
from .reading import (
    AllOption,
    CountOption,
    FollowOption,
    LookupIdOption,
    RawOption,
    SeparatorOption,
    SoapOption,
    SourceArgument,
    TimeoutOption,
    keeps_copies,
    limit_of,
    look,
    matching,
    printing,
    timeout_of,
)


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
    where: WhereOption = None,
    raw: RawOption = False,
    separator: SeparatorOption = None,
    user: UserOption = None,
    password_file: PasswordFileOption = None,
    auth: AuthOption = None,
    level: LevelOption = None,
    soap: SoapOption = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Read messages without removing them.

    The exit code is 3 if no message arrived in time.
    """
    limit = limit_of(count, everything=everything, follow=follow)
    wait = timeout_of(timeout, follow=follow)
    style = make_style(as_json=as_json, raw=raw, separator=separator, soap=soap)
    with (
        printing(style, kept=keeps_copies(source)) as printer,
        connect_to(
            source, socket, user=user, password_file=password_file, auth=auth, level=level
        ) as manager,
        manager.open_queue(source, "peek") as queue,
    ):
        if where is None:
            look(queue, printer, lookup_id, limit, wait)
        else:
            for message in matching(manager, source, where, limit, follow=follow):
                printer.show(message)
