"""`openmsmq route`: explains the route of a message."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Annotated, Any, Final

import typer

from openmsmq.cli.failure import FAILED, reporting
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption, print_json, screen_width

_WIDTH: Final = 80
_INDENT: Final = "   "


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("route")(reporting("route", route))


def route(
    destination: Annotated[
        str, typer.Argument(metavar="DEST", help="Path name or format name of a queue.")
    ],
    *,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Explain the route of a message, without sending one.

    The exit code is 1 if there is no route.
    """
    with connect(socket) as manager:
        info = manager.route(destination)
    if as_json:
        print_json(info)
    else:
        for line in route_lines(info, screen_width() or _WIDTH):
            typer.echo(line)
    if not info["found"]:
        raise typer.Exit(FAILED)


def route_lines(info: dict[str, Any], width: int) -> Iterator[str]:
    """A route as people read it."""
    yield f"To {info['destination']}"
    if info["path_name"] and info["path_name"] not in info["destination"]:
        yield from _wrapped(f"which is {info['path_name']}", width, _INDENT)
    if info["queue_manager"]:
        known = info["name"] and info["name"] != info["queue_manager"]
        name = f"{info['name']}, " if known else ""
        yield from _wrapped(f"on {name}{info['queue_manager']}", width, _INDENT)
    for number, step in enumerate(info["path"], 1):
        sites = f" (site {', '.join(step['sites'])})" if step["sites"] else ""
        yield f"{number:>2} {step['name']}{sites}"
        if step["next_hops"]:
            first, *others = step["next_hops"]
            choices = f"{first}, else {', '.join(others)}" if others else first
            site = f" ({step['next_site']})" if step["next_site"] else ""
            yield from _wrapped(f"-> {choices}: {step['why']}{site}", width, _INDENT)
        else:
            site = f" {step['next_site']}" if step["next_site"] else ""
            yield from _wrapped(f"-> {step['why']}{site}", width, _INDENT)
    if info["path"] and info["found"] and info["path"][-1]["next_hops"]:
        yield f"{len(info['path']) + 1:>2} {info['name']}, the destination"
    if info["why"]:
        host = f" ({info['host']})" if info["host"] else ""
        end = "" if info["found"] else "No way: "
        yield from _wrapped(f"{end}{info['why']}{host}", width, "")


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + "   " if indent else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
