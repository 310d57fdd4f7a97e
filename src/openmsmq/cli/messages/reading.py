"""What `openmsmq receive` and `openmsmq peek` share."""

from typing import Annotated, Final

import typer

from openmsmq.cli.failure import NOTHING_CAME

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
    typer.Option(min=1, metavar="N", help="At most so many messages [1; with --follow no limit]."),
]
AllOption = Annotated[bool, typer.Option("--all", help="All messages that are there.")]
TimeoutOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="SECONDS",
        help="How long to wait for the next message [0; with --follow for ever].",
    ),
]
FollowOption = Annotated[
    bool, typer.Option("--follow", "-f", help="Go on as messages come, until Ctrl-C.")
]
LookupIdOption = Annotated[
    list[int] | None,
    typer.Option(min=0, metavar="ID", help="The message with this lookup id; may be repeated."),
]
RawOption = Annotated[bool, typer.Option("--raw", help="Only the bodies, byte for byte.")]
SeparatorOption = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help=r"With --raw: what to write after each body, such as '\n'."),
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


def end(count: int) -> None:
    """End the command with the code that says whether any message came.

    Raises:
        Exit: none came.
    """
    if not count:
        raise typer.Exit(NOTHING_CAME)
