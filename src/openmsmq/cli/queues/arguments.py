"""Arguments and options of `openmsmq queue`."""

from enum import StrEnum
from typing import Annotated

import typer

from openmsmq.cli.messages.send_options import parse_delay

from .text import NO_QUOTA


class Privacy(StrEnum):
    """Messages that a queue accepts: plain ones, any, or those with an encrypted body."""

    NONE = "none"
    OPTIONAL = "optional"
    BODY = "body"


class Handling(StrEnum):
    """The action for a message that failed in every retry cycle."""

    NONE = "none"
    MOVE = "move"
    REJECT = "reject"
    DROP = "drop"
    HOLD = "hold"


def parse_quota(text: str) -> int:
    """Kilobytes, or the value that means no limit."""
    if text.lower() == "none":
        return NO_QUOTA
    if not (text.isascii() and text.isdigit()) or int(text) > NO_QUOTA:
        raise typer.BadParameter(f"{text!r} is neither a number of kilobytes nor 'none'")
    return int(text)


PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help=r"Path name, such as '.\private$\orders'.")
]
LabelOption = Annotated[str | None, typer.Option(help="Description, up to 124 characters.")]
QuotaOption = Annotated[
    int | None,
    typer.Option(parser=parse_quota, metavar="KB", help="Maximum size in kilobytes, or none."),
]
JournalQuotaOption = Annotated[
    int | None,
    typer.Option(parser=parse_quota, metavar="KB", help="Maximum size of its journal, or none."),
]
PrivacyOption = Annotated[
    Privacy | None, typer.Option(help="Whether bodies must not, may or must be encrypted.")
]
BasePriorityOption = Annotated[
    int | None,
    typer.Option(min=-32768, max=32767, help="Transfer priority of a public queue, higher first."),
]
MulticastOption = Annotated[
    str | None,
    typer.Option(metavar="ADDR:PORT", help="Multicast address to listen to; '' for none."),
]


RetryCountOption = Annotated[
    int | None,
    typer.Option(min=0, help="Retries of a message before it moves to ;retry [5]."),
]
CycleDelayOption = Annotated[
    int | None,
    typer.Option(parser=parse_delay, metavar="SECONDS", help="Time that it stays in ;retry [30m]."),
]
CyclesOption = Annotated[int | None, typer.Option(min=0, help="Number of returns from ;retry [2].")]
HandlingOption = Annotated[
    Handling | None,
    typer.Option(help="Final action: move to ;poison, reject, drop, hold; none: no policy."),
]


def complete_principal(incomplete: str) -> list[str]:
    """The words for principals that a shell may complete."""
    from openmsmq.security.principals import WELL_KNOWN

    words = [*WELL_KNOWN, "user:", "uid:", "group:", "gid:", "account:"]
    return [word for word in words if word.startswith(incomplete)]


PrincipalArgument = Annotated[
    str,
    typer.Argument(
        metavar="PRINCIPAL",
        autocompletion=complete_principal,
        help="everyone, anonymous, user:NAME, uid:NUMBER, group:NAME, gid:NUMBER, the NAME of an "
        "account (`openmsmq user`) or a SID.",
    ),
]
