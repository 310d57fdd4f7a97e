"""`openmsmq deadletter`: lists dead letters by reason, retries and drops them."""

import time
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from openmsmq.cli.groups import Commands, add_group
from openmsmq.cli.messages.output import make_style
from openmsmq.cli.messages.reading import RawOption, SeparatorOption, printing
from openmsmq.cli.options.confirmation import DryRunOption, YesOption
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import Column, JsonOption, print_json, print_table
from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import count_text, duration_text, size_text

from .options import (
    FirstOption,
    LookupIdsOption,
    RateOption,
    StepOption,
    ToOption,
    WhereOption,
    condition_of,
)
from .running import run_spec
from .specs import LimitsOption, spec_of

if TYPE_CHECKING:
    from openmsmq.care.dead_letters import DeadLetterGroup

_HELP: Final = "Show dead letters by reason; send them again or drop them."
_TITLES: Final = {
    "reason": "Reason",
    "destination": "Was for",
    "label": "Label",
    "age": "Age",
}
_QUEUES: Final = {"plain": ";deadletter", "transactional": ";deadxact"}

WhichOption = Annotated[
    str | None,
    typer.Option(
        "--queue", metavar="plain|transactional", help="Only one of the dead-letter queues."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    commands: Commands = {"list": list_groups, "show": show, "retry": retry, "drop": drop}
    add_group(app, "deadletter", commands, help_text=_HELP)


def _queues(which: str | None) -> tuple[str, ...]:
    if which is None:
        return tuple(_QUEUES.values())
    if which not in _QUEUES:
        raise typer.BadParameter(f"{which!r} must be one of {', '.join(_QUEUES)}")
    return (_QUEUES[which],)


def list_groups(
    *,
    by: Annotated[
        str,
        typer.Option("--by", metavar="WORDS", help="Group by reason, destination, label, age."),
    ] = "reason,destination",
    where: WhereOption = None,
    queue: WhichOption = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Count dead letters by reason, with cause and remedy."""
    from openmsmq.care.dead_letters import GROUPINGS, dead_letters, group_dead_letters

    words = tuple(word.strip() for word in by.split(","))
    if not words or any(word not in GROUPINGS for word in words):
        raise typer.BadParameter(f"one or more of {', '.join(GROUPINGS)}", param_hint="--by")
    now = time.time()
    with connect(socket) as manager:
        letters = dead_letters(manager, condition_of(where), queues=_queues(queue))
        groups = group_dead_letters(letters, now, words)
    if as_json:
        for group in groups:
            print_json(group.to_dict(words))
        return
    if not groups:
        typer.echo("No dead letters")
        return
    columns = (
        *(Column(_TITLES[word], cut=True) for word in words),
        Column("Messages", right=True),
        Column("Size", right=True, optional=True),
        Column("Oldest", right=True),
    )
    print_table(columns, [_row(group, now) for group in groups])
    _print_remedies(groups)


def _row(group: "DeadLetterGroup", now: float) -> tuple[str, ...]:
    return (
        *group.key,
        count_text(group.messages),
        size_text(group.bytes),
        duration_text(now - group.oldest),
    )


def _print_remedies(groups: "list[DeadLetterGroup]") -> None:
    """Print cause and remedy of each reason."""
    by_reason: dict[str, Any] = {}
    for group in groups:
        by_reason.setdefault(group.reason, group)
    for reason, group in by_reason.items():
        typer.echo(f"\n{printable(reason)}")
        typer.echo(f"  Likely cause: {group.cause}")
        typer.echo(f"  Remedy: {group.remedy}")
        if not group.worth_retrying:
            typer.echo("  Retry only if the cause is gone, or if they were removed by mistake.")


def show(
    *,
    where: WhereOption = None,
    lookup_id: LookupIdsOption = None,
    queue: WhichOption = None,
    first: FirstOption = None,
    raw: RawOption = False,
    separator: SeparatorOption = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Show dead letters one by one.

    The exit code is 3 when there is none.
    """
    from openmsmq.care.dead_letters import dead_letters

    style = make_style(as_json=as_json, raw=raw, separator=separator)
    with printing(style, kept=True) as printer, connect(socket) as manager:
        for letter in dead_letters(manager, condition_of(where), queues=_queues(queue)):
            if lookup_id and letter.message.lookup_id not in lookup_id:
                continue
            printer.show(letter.message)
            if printer.count == first:
                break


def retry(
    *,
    to: ToOption = None,
    where: WhereOption = None,
    queue: WhichOption = None,
    first: FirstOption = None,
    rate: RateOption = None,
    limits: LimitsOption = "restart",
    step: StepOption = 1000,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Send dead letters again to their destinations. Each is sent once; refused ones stay."""
    spec = spec_of(
        "retry",
        _queues(queue),
        to or "",
        where=where,
        first=first,
        rate=rate,
        limits=limits,
        step=step,
    )
    run_spec(socket, spec, dry_run=dry_run, yes=yes, as_json=as_json)


def drop(
    *,
    where: WhereOption = None,
    queue: WhichOption = None,
    first: FirstOption = None,
    rate: RateOption = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Remove dead letters permanently. `openmsmq save` can save copies of them first."""
    spec = spec_of("remove", _queues(queue), where=where, first=first, rate=rate)
    run_spec(socket, spec, dry_run=dry_run, yes=yes, as_json=as_json)
