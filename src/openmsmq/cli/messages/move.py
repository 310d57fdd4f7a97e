"""`openmsmq move`: moves messages to and from subqueues, and back from dead letters."""

from typing import Annotated

import typer

from openmsmq.cli.care.options import FirstOption, RateOption, StepOption, WhereOption
from openmsmq.cli.care.running import run_spec
from openmsmq.cli.care.specs import refuse_without_where, spec_of
from openmsmq.cli.failure import reporting
from openmsmq.cli.options.confirmation import DryRunOption, YesOption, confirm
from openmsmq.cli.options.connection import SocketOption
from openmsmq.cli.options.lookup_ids import parse_lookup_id
from openmsmq.cli.options.remote import (
    AuthOption,
    LevelOption,
    PasswordFileOption,
    UserOption,
    connect_to,
    free_messages,
    info_of,
    is_remote,
)
from openmsmq.cli.output import JsonOption, print_json, say
from openmsmq.terminal.progress import progress
from openmsmq.terminal.quantities import count_text


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("move")(reporting("move", move))


def move(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Queue to move messages from.")],
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help=r"Target, such as '.\private$\orders;retry'.")
    ],
    *,
    lookup_id: Annotated[
        list[int] | None,
        typer.Option(
            parser=parse_lookup_id,
            metavar="ID",
            help="Message with this lookup id; may be repeated.",
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All messages.")] = False,
    where: WhereOption = None,
    first: FirstOption = None,
    rate: RateOption = None,
    step: StepOption = 1000,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    user: UserOption = None,
    password_file: PasswordFileOption = None,
    auth: AuthOption = None,
    level: LevelOption = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Move messages between a queue and its subqueues, or back from a journal or dead letters."""
    if [bool(lookup_id), everything, where is not None].count(True) != 1:
        raise typer.BadParameter("say which messages: --lookup-id ID, --where FILTER, or --all")
    if where is not None:
        spec = spec_of("move", [source], target, where=where, first=first, rate=rate, step=step)
        run_spec(socket, spec, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    refuse_without_where(first, rate)
    with (
        connect_to(
            source, socket, user=user, password_file=password_file, auth=auth, level=level
        ) as manager,
        manager.open_queue(source, "receive") as queue,
    ):
        if lookup_id:
            # A message that is not there is refused before any is moved.
            count = len([queue.peek_by_lookup_id(wanted) for wanted in dict.fromkeys(lookup_id)])
        else:
            count = free_messages(info_of(manager, source))
        if dry_run:
            # The same checks as the move; remote read has none without moving.
            if not is_remote(manager):
                queue.move(target, lookup_id or None, dry_run=True)
        else:
            if everything and count:
                confirm(f"Move {count_text(count, 'message')} to {target}?", yes=yes)
            with progress("moving", count) as update:
                count = queue.move(target, lookup_id or None, progress=update)
    if as_json:
        print_json({"source": source, "target": target, "moved": count, "dry_run": dry_run})
    else:
        did = "Would move" if dry_run else "Moved"
        say(f"{did} {count_text(count, 'message')} from {source} to {target}")
