"""What `openmsmq receive` and `openmsmq peek` share."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

import typer

from openmsmq.cli.failure import FAILED, NOTHING_CAME
from openmsmq.cli.options.lookup_ids import parse_lookup_id

from .output import MessagePrinter, OutputClosed, Style

if TYPE_CHECKING:
    from openmsmq.client import Queue, QueueManager, ReceivedMessage

DEFAULT_COUNT: Final = 1
# The ends of names of journals and dead-letter queues, also as .NET writes them.
_KEEPING: Final = (
    *(";journal", ";deadletter", ";deadxact"),
    *("\\journal$", "\\deadletter$", "\\xactdeadletter$"),
)

SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help=r"Path name or format name; ';journal', ';deadletter', '.\private$\orders;retry'.",
    ),
]
CountOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Maximum number of messages [1; with --follow none]."),
]
AllOption = Annotated[bool, typer.Option("--all", help="All messages in the queue.")]
TimeoutOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="Maximum wait for the next message [0; with --follow for ever].",
    ),
]
FollowOption = Annotated[
    bool, typer.Option("--follow", "-f", help="Continue as messages arrive, until Ctrl-C.")
]
LookupIdOption = Annotated[
    list[int] | None,
    typer.Option(
        parser=parse_lookup_id,
        metavar="ID",
        help="The message with this lookup id; may be repeated.",
    ),
]
RawOption = Annotated[bool, typer.Option("--raw", help="Only the bodies, byte for byte.")]
SoapOption = Annotated[
    bool | None,
    typer.Option(
        "--soap/--no-soap", help="With --json: whether to print the SOAP envelope and request."
    ),
]
SeparatorOption = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help=r"With --raw: text to write after each body, such as '\n'."),
]


def keeps_copies(source: str) -> bool:
    """Whether a name means a journal or a dead-letter queue: its messages were for another one."""
    return source.lower().endswith(_KEEPING)


def limit_of(count: int | None, *, everything: bool, follow: bool) -> int | None:
    """How many messages at most; None for no limit.

    Raises:
        BadParameter: the options do not go together.
    """
    if everything and count is not None:
        raise typer.BadParameter("--all and --count exclude each other")
    return count if everything or follow or count is not None else DEFAULT_COUNT


def timeout_of(timeout: float | None, *, follow: bool) -> float | None:
    """How long to wait for the next message; None for ever."""
    return timeout if follow or timeout is not None else 0.0


@contextmanager
def printing(style: Style, *, kept: bool) -> Iterator[MessagePrinter]:
    """Print messages of a queue until the block ends, or the user ends it with Ctrl-C.

    Args:
        kept: whether the messages were for another queue; see `keeps_copies`.

    Raises:
        Exit: nothing takes the output any more, or no message came.
    """
    printer = MessagePrinter(style, kept=kept)
    try:
        yield printer
    except OutputClosed:
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        # How people end --follow: what `receive` has printed is removed, the rest is back.
        typer.echo(err=True)
    if not printer.count:
        raise typer.Exit(NOTHING_CAME)


def matching(
    manager: "QueueManager", source: str, where: str, limit: int | None, *, follow: bool
) -> "Iterator[ReceivedMessage]":
    """The messages of a queue that a filter holds for, in the order of arrival.

    Raises:
        BadParameter: a filter looks at what is there, and does not wait.
    """
    from openmsmq.care import search
    from openmsmq.care.filters import parse_filter
    from openmsmq.care.places import place_of

    if follow:
        raise typer.BadParameter("--where and --follow exclude each other")
    for hit in search(manager, [place_of(source)], parse_filter(where), limit=limit, hidden=False):
        yield hit.message


def look(
    queue: "Queue",
    printer: MessagePrinter,
    lookup_ids: list[int] | None,
    limit: int | None,
    wait: float | None,
) -> None:
    """Print the messages with these lookup ids, or the first ones, and leave them in place."""
    messages: Iterator[ReceivedMessage]
    if lookup_ids:
        messages = map(queue.peek_by_lookup_id, lookup_ids)
    else:
        # No queue has as many messages as `islice` can count.
        messages = islice(queue.cursor(wait), None if limit is None else min(limit, sys.maxsize))
    for message in messages:
        printer.show(message)
