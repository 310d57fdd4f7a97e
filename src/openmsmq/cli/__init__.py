"""The `openmsmq` command. Each command is a module of its own, loaded only when it is called."""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Final, NamedTuple

import typer

from openmsmq import __version__

__all__ = ["COMMANDS", "Entry", "build_app", "main"]


class Entry(NamedTuple):
    """A command or a group of commands.

    Args:
        name: the word that calls it.
        help: what it does, in one line for the help page.
        module: the module that has it, relative to this package. Its function `register` takes
            the `typer.Typer` of the program and adds the command under that name.
    """

    name: str
    help: str
    module: str


# In the order of the help page.
COMMANDS: Final = (
    Entry("serve", "Run a queue manager in the foreground.", ".manager.serve"),
    Entry("status", "Show state, endpoints and totals of the queue manager.", ".manager.status"),
    Entry("top", "Watch queues, rates and depth.", ".manager.top"),
    Entry("health", "Check the health of the queue manager.", ".manager.health"),
    Entry("events", "Show events of the queue manager.", ".manager.events"),
    Entry("session", "List sessions and clients; end one.", ".manager.session"),
    Entry("reload", "Reload tokens, certificates, quotas and the log level.", ".manager.reload"),
    Entry("console", "Run the web console alone, or print a sign-in link.", ".manager.console"),
    Entry("queue", "Create, list, show, change, purge and delete queues.", ".queues.queue"),
    Entry(
        "machine", "Manage rights on the queue manager; go offline and online.", ".manager.machine"
    ),
    Entry("send", "Send messages.", ".messages.send"),
    Entry("receive", "Receive messages: print them and remove them.", ".messages.receive"),
    Entry("peek", "Read messages without removing them.", ".messages.peek"),
    Entry("move", "Move messages to and from subqueues, or from dead letters.", ".messages.move"),
    Entry("find", "Find messages in all queues, journals and dead letters.", ".care.find"),
    Entry("trace", "Show where a message is and what happened to it.", ".care.trace"),
    Entry("copy", "Send copies of messages to another queue.", ".care.copy"),
    Entry(
        "delayed",
        "List delayed messages; deliver or cancel them.",
        ".messages.delayed",
    ),
    Entry("retry", "Send messages again, each once, and remove the originals.", ".care.retry"),
    Entry("deadletter", "Show dead letters by reason; retry or drop them.", ".care.dead_letter"),
    Entry("save", "Save messages to a file.", ".care.save"),
    Entry("load", "Send the messages of a file.", ".care.load"),
    Entry("job", "Show, resume, stop and undo jobs.", ".care.job"),
    Entry("audit", "Show the actions of users at the console.", ".care.audit"),
    Entry("outgoing", "Show outgoing queues; pause, empty or delete one.", ".queues.outgoing"),
    Entry("transaction", "List open transactions; end one in doubt.", ".manager.transaction"),
    Entry("route", "Explain the route of a message.", ".queues.route"),
    Entry("directory", "Edit sites, links and servers of the directory.", ".directory"),
    Entry(
        "redirection",
        "Redirect messages over HTTP to other queues or hosts.",
        ".queues.redirection",
    ),
    Entry("key", "Create, list, export and import certificates and their keys.", ".users.key"),
    Entry("user", "Manage accounts of other machines that read queues here.", ".users.user"),
    Entry("apply", "Apply a file of definitions to queues and permissions.", ".manager.apply"),
    Entry("export", "Print queues and permissions as a file of definitions.", ".manager.export"),
    Entry("diff", "Compare a file of definitions with the queue manager.", ".manager.diff"),
    Entry("config", "Show and check the settings of `serve`.", ".manager.config"),
    Entry("backup", "Back up the store of a running queue manager to a file.", ".manager.backup"),
    Entry("restore", "Create a data directory from a backup.", ".manager.restore"),
    Entry("store", "Check the store of a stopped queue manager.", ".manager.store"),
    Entry("pipeline", "Archive, audit, triage, replay and measure with Spark.", ".pipeline"),
    Entry("decode", "Dissect packets in captures, raw bytes and hex text.", ".decode"),
    Entry("bench", "Measure the speed of a queue manager on this machine.", ".bench"),
    Entry("demo", "Demonstrate the main features; needs no setup.", ".demo"),
    Entry(
        "conformance",
        "Count the specification requirements that tests prove.",
        ".conformance",
    ),
)

_HELP: Final = "Message Queuing without Windows: a queue manager, its client and its tools."
_PROGRAM: Final = "openmsmq"
_SOCKET: Final = "--socket"
_SOCKET_VARIABLE: Final = "OPENMSMQ_SOCKET"
# Set by a shell that asks for completions: then everything has to be known.
_COMPLETION: Final = "_OPENMSMQ_COMPLETE"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program with these arguments, or those of the process.

    Raises:
        SystemExit: always; 0 done, 1 refused or failed, 2 wrong usage.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    build_app(words, everything=_COMPLETION in os.environ)(args=words, prog_name=_PROGRAM)


def build_app(arguments: Sequence[str], *, everything: bool = False) -> typer.Typer:
    """The program: the called command is loaded, the others have only their name and help."""
    app = typer.Typer(
        help=_HELP,
        no_args_is_help=True,
        # Help in colour takes a second to load, plain help a tenth of that.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_program)
    called = _called(arguments)
    for entry in COMMANDS:
        if everything or entry.name == called:
            register: Callable[[typer.Typer], None] = import_module(entry.module, __name__).register
            register(app)
        else:
            app.command(entry.name, help=entry.help)(_not_loaded)
    return app


def _called(arguments: Sequence[str]) -> str | None:
    """The word that calls a command: the first one that is neither an option nor its value."""
    words = iter(arguments)
    for word in words:
        if word == _SOCKET:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return None


def _not_loaded() -> None:
    """Stands for a command that was not called, in the help page."""


def _print_version(*, value: bool) -> None:
    if value:
        typer.echo(f"{_PROGRAM} {__version__}")
        raise typer.Exit


def _program(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    socket: Annotated[
        str | None,
        typer.Option(
            _SOCKET, metavar="PATH", help="Socket of the queue manager, as for the command."
        ),
    ] = None,
) -> None:
    del version
    if socket is not None:
        os.environ[_SOCKET_VARIABLE] = socket
