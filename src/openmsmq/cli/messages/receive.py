"""`openmsmq receive`: prints messages of a queue and removes them."""

import sys
from typing import TYPE_CHECKING, Final

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
from openmsmq.terminal.progress import progress
from openmsmq.terminal.streams import is_terminal

from .output import MessagePrinter, make_style
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
    matching,
    printing,
    timeout_of,
)

if TYPE_CHECKING:
    from openmsmq.client import Queue

_MAX_PREFETCH: Final = 1000


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("receive")(reporting("receive", receive))


def receive(
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
    """Receive messages: print them and remove them from the queue.

    A message is removed only after it is printed; until then it stays in the queue. The exit
    code is 3 if no message arrived in time.
    """
    limit = limit_of(count, everything=everything, follow=follow)
    wait = timeout_of(timeout, follow=follow)
    style = make_style(as_json=as_json, raw=raw, separator=separator, soap=soap)
    with (
        printing(style, kept=keeps_copies(source)) as printer,
        connect_to(
            source, socket, user=user, password_file=password_file, auth=auth, level=level
        ) as manager,
        manager.open_queue(source, "receive") as queue,
    ):
        if where is not None:
            messages = matching(manager, source, where, limit, follow=follow)
            take_by_lookup_id(queue, printer, [message.lookup_id for message in messages])
        elif lookup_id:
            take_by_lookup_id(queue, printer, lookup_id)
        else:
            take(queue, printer, limit, wait)


def take(queue: "Queue", printer: MessagePrinter, limit: int | None, wait: float | None) -> None:
    """Print and remove messages until enough came, or none in time."""
    prefetch = _MAX_PREFETCH if limit is None else min(limit, _MAX_PREFETCH)
    with progress("receiving", limit) as update, queue.messages(wait, prefetch) as stream:
        # Where the messages themselves can be seen, a bar would only be in the way.
        watched = not is_terminal(sys.stdout)
        for message in stream:
            printer.show(message)
            if watched:
                update(printer.count)
            if printer.count == limit:
                break


def take_by_lookup_id(queue: "Queue", printer: MessagePrinter, lookup_ids: list[int]) -> None:
    """Print and remove the messages with these lookup ids, in this order."""
    for lookup_id in lookup_ids:
        with queue.hold_by_lookup_id(lookup_id) as message:
            printer.show(message)
