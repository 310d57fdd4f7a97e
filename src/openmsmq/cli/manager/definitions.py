"""Files of definitions: reading them, and their changes as text."""

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from openmsmq.cli.output import print_json
from openmsmq.terminal.printable import printable
from openmsmq.terminal.quantities import count_text
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError

if TYPE_CHECKING:
    from openmsmq.client import QueueManager
    from openmsmq.wire.definitions.model import Definitions

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="File of definitions, TOML or JSON; - for stdin.")
]
# What each action is called when it is to come, and when it is done.
_WORDS: Final = {
    "create": ("create", "created"),
    "change": ("change", "changed"),
    "recreate": ("replace", "replaced"),
    "delete": ("delete", "deleted"),
    "unlisted": ("not in the file", "not in the file"),
    "missing": ("missing here", "missing here"),
}
_ANOTHER: Final = "Name a file of definitions, or - for standard input."
# What is told and not changed.
_TOLD: Final = ("unlisted", "missing")


class DefinitionsFile(NamedTuple):
    """A file that was read: its name, its text, and what it says."""

    source: str
    text: str
    definitions: "Definitions"


def read_file(path: Path) -> DefinitionsFile:
    """Read a file of definitions.

    Raises:
        ConfigError: it cannot be read, or is not one.
    """
    from openmsmq.wire.definitions.reading import read_definitions

    source = "standard input" if str(path) == "-" else str(path)
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
    except OSError as exc:
        raise ConfigError(f"{source}: {exc.strerror}", remedy=_ANOTHER) from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"{source}: is not UTF-8: {exc}", remedy=_ANOTHER) from exc
    return DefinitionsFile(source, text, read_definitions(text, source))


def changes_of(
    manager: "QueueManager", file: DefinitionsFile, **options: bool
) -> list[dict[str, Any]]:
    """Apply a file; without options only find out what differs.

    Raises:
        ConfigError: something in the file is wrong or not allowed; the text names its line.
    """
    from openmsmq.wire.definitions.reading import fault

    try:
        if not options:
            return manager.compare_definitions(file.definitions)
        return manager.apply_definitions(file.definitions, **options)
    except QueueError as exc:
        if not exc.detail.startswith("$"):
            raise
        place, _, reason = exc.detail.partition(": ")
        error = fault(file.text, file.source, place, f"{reason} ({exc.name})")
        remedy = exc.known_remedy or error.remedy
        raise ConfigError(error.detail, cause=exc.cause, remedy=remedy) from exc


def print_changes(changes: list[dict[str, Any]], *, done: bool, as_json: bool) -> None:
    """One line for each change; as JSON one object."""
    for change in changes:
        if as_json:
            print_json(change)
        else:
            typer.echo(_line(change, done=done))


def summary(changes: list[dict[str, Any]]) -> str:
    """How much differs, in words."""
    return count_text(sum(change["action"] not in _TOLD for change in changes), "change")


def deletions(changes: list[dict[str, Any]]) -> str:
    """How much is deleted of each kind, in words; empty if nothing is."""
    kinds = Counter(change["kind"] for change in changes if change["action"] == "delete")
    return ", ".join(count_text(count, kind) for kind, count in kinds.items())


def _line(change: dict[str, Any], *, done: bool) -> str:
    word = _WORDS[change["action"]][done]
    subject = change["name"] or "the queue manager"
    if change["kind"] != "machine":
        subject = f"{change['kind']} {subject}"
    if not change["property"]:
        return printable(f"{word}: {subject}")
    before, after = (change[key] or "nothing" for key in ("before", "after"))
    return printable(f"{word}: {subject}: {change['property']} from {before} to {after}")
