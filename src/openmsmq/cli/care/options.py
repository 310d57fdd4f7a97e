"""Options of commands that choose messages and work on many of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openmsmq.cli.options.lookup_ids import parse_lookup_id

if TYPE_CHECKING:
    from openmsmq.care.filters import Condition

WhereOption = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="FILTER",
        help='Filter for messages, such as "label ~ order and age > 1h" (docs/search.md).',
    ),
]
FirstOption = Annotated[
    int | None, typer.Option("--first", min=1, metavar="N", help="Only the first N messages.")
]
RateOption = Annotated[
    float | None,
    typer.Option("--rate", min=0.001, metavar="N", help="Maximum number of messages per second."),
]
StepOption = Annotated[
    int,
    typer.Option(
        "--step", min=1, max=1000, metavar="N", help="Maximum number of messages in a step."
    ),
]
LookupIdsOption = Annotated[
    list[int] | None,
    typer.Option(
        "--lookup-id",
        parser=parse_lookup_id,
        metavar="ID",
        help="Message with this lookup id; may be repeated.",
    ),
]
FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="File name with .omq, or .jsonl for JSON lines.")
]
SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help="Queue of the messages, such as ';deadletter'.")
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar="DEST", help="Queue to send them to [the destination of each]."),
]


def condition_of(where: str | None) -> "Condition | None":
    """The filter of an option.

    Raises:
        FilterError: it cannot be read.
    """
    from openmsmq.care.filters import parse_filter

    return None if where is None else parse_filter(where)
