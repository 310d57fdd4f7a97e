"""Arguments and options of `openmsmq queue`."""

from enum import StrEnum
from typing import Annotated

import typer

from openmsmq.cli.messages.send_options import parse_delay

from .text import NO_QUOTA


class Privacy(StrEnum):
    """Which messages a queue takes: only plain ones, any, only those with an encrypted body."""

    NONE = "none"
    OPTIONAL = "optional"
    BODY = "body"


class Handling(StrEnum):
    """What becomes of a message that failed in every retry cycle."""

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
    typer.Option(parser=parse_quota, metavar="KB", help="Kilobytes that it may hold, or none."),
]
JournalQuotaOption = Annotated[
    int | None,
    typer.Option(parser=parse_quota, metavar="KB", help="Kilobytes of its journal, or none."),
]
PrivacyOption = Annotated[
    Privacy | None, typer.Option(help="Whether bodies must, may or must not be encrypted.")
]
BasePriorityOption = Annotated[
    int | None,
    typer.Option(min=-32768, max=32767, help="Public queues with a higher one are served first."),
]
MulticastOption = Annotated[
    str | None,
    typer.Option(metavar="ADDR:PORT", help="Multicast address that it listens to; '' for none."),
]


RetryCountOption = Annotated[
    int | None,
    typer.Option(min=0, help="Retries of a message in a row before it rests in ;retry [5]."),
]
CycleDelayOption = Annotated[
    int | None,
    typer.Option(parser=parse_delay, metavar="SECONDS", help="How long it rests there [30m]."),
]
CyclesOption = Annotated[
    int | None, typer.Option(min=0, help="How often it comes back from there [2].")
]
HandlingOption = Annotated[
    Handling | None,
    typer.Option(help="What follows: move to ;poison, reject, drop, hold; none: no policy."),
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
