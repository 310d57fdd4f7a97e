"""`openmsmq find`: messages of all queues that match a filter."""

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from openmsmq.cli.failure import NOTHING_CAME, reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption, cut, print_json
from openmsmq.terminal.printable import printable
from openmsmq.terminal.progress import progress
from openmsmq.terminal.quantities import count_text, size_text, time_text
from openmsmq.terminal.streams import is_terminal

from .options import WhereOption, condition_of

if TYPE_CHECKING:
    from openmsmq.care import FoundMessage, Place, PlaceKind, SearchProgress
    from openmsmq.care.filters import Condition
    from openmsmq.client import QueueManager

_LABEL_SHOWN: Final = 60


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("find")(reporting("find", find))


def find(
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="Text in the label or the body.")
    ] = None,
    *,
    where: WhereOption = None,
    queue: Annotated[
        list[str] | None,
        typer.Option(
            "--queue", metavar="NAME", help="Queue to search, or a pattern with *; may be repeated."
        ),
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            "--in",
            metavar="KIND",
            help="queue, subqueue, journal, deadletter, outgoing; may be repeated [all].",
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Maximum number of messages.")
    ] = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Find messages in all queues, journals, dead letters and outgoing queues; nothing is removed.

    The exit code is 3 if no message was found.
    """
    from openmsmq.care import PlaceKind, search
    from openmsmq.care.places import ALL_KINDS

    for word in within or ():
        if word not in ALL_KINDS:
            raise typer.BadParameter(
                f"{word!r} must be one of {', '.join(sorted(ALL_KINDS))}", param_hint="--in"
            )
    kinds = [PlaceKind(word) for word in within or sorted(ALL_KINDS)]
    condition = _condition(text, where)
    with connect(socket) as manager, progress("searching", None) as update:
        # Where the messages themselves can be seen, a bar would only be in the way.
        watched = not is_terminal(sys.stdout)
        state: SearchProgress | None = None

        def tell(now: "SearchProgress") -> None:
            nonlocal state
            state = now
            if watched:
                update(now.looked_at, now.total)

        places = _places(manager, queue, kinds)
        hit_count = 0
        for hit in search(manager, places, condition, limit=count, progress=tell):
            hit_count += 1
            _show(hit, as_json=as_json)
    if state is not None:
        for name, error in state.not_searched:
            typer.echo(f"Not searched: {printable(name)}: {printable(str(error))}", err=True)
    if not as_json:
        looked = 0 if state is None else state.looked_at
        typer.echo(
            f"{count_text(hit_count, 'message')} of {looked:,} in "
            f"{count_text(len(places), 'place')}",
            err=True,
        )
    if not hit_count:
        raise typer.Exit(NOTHING_CAME)


def _condition(text: str | None, where: str | None) -> "Condition | None":
    from openmsmq.care.filters import And, Comparison, Or

    condition = condition_of(where)
    if text is None:
        return condition
    anywhere = Or((Comparison("label", "~", text), Comparison("body", "~", text)))
    return anywhere if condition is None else And((anywhere, condition))


def _places(
    manager: "QueueManager", names: list[str] | None, kinds: "list[PlaceKind]"
) -> "list[Place]":
    from openmsmq.care import list_places
    from openmsmq.care.places import find_place

    if not names:
        return list_places(manager, kinds=kinds)
    places: list[Place] = []
    for name in names:
        if "*" in name:
            places += list_places(manager, kinds=kinds, pattern=name)
        else:
            places.append(find_place(manager, name))
    return places


def _show(hit: "FoundMessage", *, as_json: bool) -> None:
    from openmsmq.client import BrowsedMessage

    message = hit.message
    hidden = message if isinstance(message, BrowsedMessage) else None
    state = "available" if hidden is None else hidden.state
    holder = "" if hidden is None else hidden.holder
    if as_json:
        place = {"queue": hit.place.name, "state": state, "holder": holder}
        print_json({**place, **message.to_dict(soap=True)})
        return
    label = cut(printable(message.label), _LABEL_SHOWN)
    line = (
        f"{printable(hit.place.name)}  {message.lookup_id}  {time_text(message.arrived_time)}  "
        f"{size_text(message.body_size)}  {label}"
    )
    if state != "available":
        line += f"  [{state}{f': {printable(holder)}' if holder else ''}]"
    typer.echo(line)
