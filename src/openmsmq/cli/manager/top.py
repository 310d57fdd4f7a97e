"""`openmsmq top`: shows queues, rates and depth, live."""

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from openmsmq.cli.failure import reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import Column, JsonOption, print_json, table_lines
from openmsmq.cli.queues.text import short_path
from openmsmq.terminal.quantities import count_text, duration_text, size_text
from openmsmq.terminal.streams import is_terminal

from .status import sessions_text, troubles

if TYPE_CHECKING:
    from openmsmq.client import QueueManager

_COLUMNS: Final = (
    Column("Queue", cut=True),
    Column("Messages", right=True),
    Column("In/s", right=True),
    Column("Out/s", right=True),
    Column("Size", right=True),
    Column("Oldest", right=True),
    Column("Readers", right=True, optional=True),
    Column("Label", cut=True, optional=True),
)
_NAP_SECONDS: Final = 0.25


class Rates(NamedTuple):
    """Messages a second that came and went."""

    arrived: float
    removed: float


class Sample(NamedTuple):
    """What there was at one moment."""

    time: float
    status: dict[str, Any]
    queues: dict[str, dict[str, Any]]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("top")(reporting("top", top))


def top(
    *,
    interval: Annotated[
        float, typer.Option(min=0.1, max=3600, metavar="SECONDS", help="Time between updates.")
    ] = 2.0,
    count: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="End after this many updates.")
    ] = None,
    system: Annotated[
        bool, typer.Option("--system", help="Also show the queues of the system.")
    ] = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Watch queues, rates and depth; Ctrl-C ends it.

    Without a terminal, or with --json, each update is printed below the previous one.
    """
    try:
        with connect(socket) as manager:
            looks = samples(manager, interval, count, system=system)
            if as_json:
                show_json(looks)
            elif is_terminal(sys.stdout):
                show_live(looks)
            else:
                show_plain(looks)
    except KeyboardInterrupt:
        typer.echo(err=True)


def samples(
    manager: "QueueManager", interval: float, count: int | None, *, system: bool
) -> Iterator[tuple[Sample, Sample | None]]:
    """Look again and again; each look comes with the one before."""
    before = None
    looks = 0
    while True:
        queues = manager.queues(include_system=system)
        now = Sample(time.monotonic(), manager.status(), {queue["path"]: queue for queue in queues})
        yield now, before
        before = now
        looks += 1
        if looks == count:
            return
        sleep(interval)


def sleep(seconds: float) -> None:
    """Sleep in short naps: a Ctrl-C that comes just before a nap is noticed after it."""
    end = time.monotonic() + seconds
    while (remaining := end - time.monotonic()) > 0:
        time.sleep(min(remaining, _NAP_SECONDS))


def rates_of(path: str, now: Sample, before: Sample | None) -> Rates:
    """How fast messages came and went between two looks; 0 for a queue that is new."""
    if before is None or path not in before.queues or now.time <= before.time:
        return Rates(0.0, 0.0)
    new, old = now.queues[path], before.queues[path]
    seconds = now.time - before.time
    removed = sum(new["deleted"].values()) - sum(old["deleted"].values())
    arrived = new["arrived_messages"] - old["arrived_messages"]
    return Rates(max(arrived, 0) / seconds, max(removed, 0) / seconds)


def screen(now: Sample, before: Sample | None, width: int | None, height: int | None) -> list[str]:
    """One look as lines: the busiest queues first, up to the height of the screen."""
    status = now.status
    rates = {path: rates_of(path, now, before) for path in now.queues}
    total = Rates(
        sum(rate.arrived for rate in rates.values()), sum(rate.removed for rate in rates.values())
    )
    facts = (
        (
            status["name"],
            status["state"],
            f"up {duration_text(status['uptime_seconds'])}",
            count_text(status["queues"], "queue"),
            f"{count_text(status['messages'], 'message')} ({size_text(status['bytes'])})",
        ),
        (
            f"{rate_text(total.arrived)}/s in",
            f"{rate_text(total.removed)}/s out",
            f"{size_text(status['memory_bytes'])} in memory",
            f"{size_text(status['disk_bytes'])} on disk",
        ),
        (
            sessions_text(status),
            count_text(status["clients"], "client"),
            count_text(status["transactions"], "transaction"),
        ),
        tuple(troubles(status)),
    )
    lines = [*map(", ".join, filter(None, facts)), ""]
    paths = sorted(now.queues, key=lambda path: order(path, now, rates))
    shown_paths = paths if height is None else paths[: max(height - len(lines) - 2, 1)]
    rows = [queue_row(now.queues[path], rates[path]) for path in shown_paths]
    lines += table_lines(_COLUMNS, rows, width)
    if len(shown_paths) < len(paths):
        lines.append(f"{len(paths) - len(shown_paths):,} more")
    return lines


def order(path: str, now: Sample, rates: dict[str, Rates]) -> tuple[float, int, str]:
    """Busy queues first, then deep ones, then by name."""
    busy = rates[path].arrived + rates[path].removed
    return -busy, -now.queues[path]["messages"], path.lower()


def queue_row(queue: dict[str, Any], rates: Rates) -> tuple[str, ...]:
    """A queue in a line."""
    return (
        short_path(queue["path"]),
        count_text(queue["messages"]),
        rate_text(rates.arrived),
        rate_text(rates.removed),
        size_text(queue["bytes"]),
        duration_text(queue["oldest_message_age_seconds"]),
        count_text(queue["readers"]) if queue["readers"] else "",
        queue["label"],
    )


def rate_text(rate: float) -> str:
    """Messages a second with the digits that matter."""
    return f"{rate:.1f}" if 0 < rate < 100 else f"{rate:,.0f}"


def show_json(looks: Iterator[tuple[Sample, Sample | None]]) -> None:
    """One object per look."""
    for now, before in looks:
        queues = []
        for path in sorted(now.queues, key=str.lower):
            rates = rates_of(path, now, before)
            queue = {key: now.queues[path][key] for key in ("path", "messages", "bytes")}
            queue |= {"arrived_per_second": rates.arrived, "removed_per_second": rates.removed}
            queues.append(queue)
        print_json({**now.status, "queue_list": queues})


def show_plain(looks: Iterator[tuple[Sample, Sample | None]]) -> None:
    """One look below the other."""
    for number, (now, before) in enumerate(looks):
        if number:
            typer.echo()
        for line in screen(now, before, None, None):
            typer.echo(line)


def show_live(looks: Iterator[tuple[Sample, Sample | None]]) -> None:
    """Every look in the place of the one before."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)
    lines: list[str] = []
    try:
        with Live(console=console, auto_refresh=False, screen=True) as live:
            for now, before in looks:
                lines = screen(now, before, console.width, console.height)
                live.update(Text.from_ansi("\n".join(lines)), refresh=True)
    finally:
        # The last look stays above the prompt of the shell.
        for line in lines:
            typer.echo(line)
