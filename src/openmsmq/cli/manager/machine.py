"""`openmsmq machine`: rights on the queue manager itself, offline and online."""

from typing import Annotated, Any, Final

import typer

from openmsmq.cli.groups import Commands, add_group
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.output import JsonOption, print_json, print_properties, say
from openmsmq.cli.queues.arguments import PrincipalArgument
from openmsmq.cli.queues.insight import print_access
from openmsmq.cli.queues.text import permissions

_HELP: Final = "Manage rights on the queue manager; take it offline, bring it online."


def complete_right(incomplete: str) -> list[str]:
    """The words for rights that a shell may complete."""
    from openmsmq.security.rights import MACHINE_RIGHTS

    return [word for word in MACHINE_RIGHTS if word.startswith(incomplete)]


RightsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="RIGHT...",
        autocompletion=complete_right,
        help="Rights such as create-queue, peek-deadletter, set-properties, get-properties, full.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    commands: Commands = {
        "rights": rights,
        "grant": grant,
        "revoke": revoke,
        "explain": explain,
        "offline": offline,
        "online": online,
    }
    add_group(app, "machine", commands, help_text=_HELP)


def rights(*, as_json: JsonOption = False, socket: SocketOption = None) -> None:
    """Show the permissions of the queue manager."""
    with connect(socket) as manager:
        _show(manager.identity.name, manager.machine_rights(), as_json=as_json)


def grant(
    principal: PrincipalArgument,
    rights: RightsArgument,
    *,
    deny: Annotated[bool, typer.Option("--deny", help="Deny the rights instead.")] = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Grant or deny rights on the queue manager."""
    with connect(socket) as manager:
        entries = manager.grant_machine(principal, rights, deny=deny)
        _show(manager.identity.name, entries, as_json=as_json)


def revoke(
    principal: PrincipalArgument,
    rights: RightsArgument,
    *,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Remove allowed or denied rights from the queue manager."""
    with connect(socket) as manager:
        entries = manager.revoke_machine(principal, rights)
        _show(manager.identity.name, entries, as_json=as_json)


def explain(
    principal: PrincipalArgument, *, as_json: JsonOption = False, socket: SocketOption = None
) -> None:
    """Explain the rights of a principal on the queue manager."""
    with connect(socket) as manager:
        answers = manager.explain_access("", principal)
        about = {"name": manager.identity.name, "principal": principal}
    print_access(about, answers, as_json=as_json)


def offline(*, as_json: JsonOption = False, socket: SocketOption = None) -> None:
    """Stop all traffic with other queue managers. Messages to them wait here.

    Local queues work as before. A restart brings the queue manager online again.
    """
    with connect(socket) as manager:
        manager.take_offline()
        name = manager.identity.name
    if as_json:
        print_json({"name": name, "online": False})
    else:
        say(f"{name} is offline. `openmsmq machine online` ends this.")


def online(*, as_json: JsonOption = False, socket: SocketOption = None) -> None:
    """Resume the traffic with other queue managers."""
    with connect(socket) as manager:
        manager.bring_online()
        name = manager.identity.name
    if as_json:
        print_json({"name": name, "online": True})
    else:
        say(f"{name} is online.")


def _show(name: str, entries: list[dict[str, Any]], *, as_json: bool) -> None:
    """The entries that are in force now."""
    if as_json:
        print_json({"name": name, "permissions": entries})
    else:
        print_properties([("Queue manager", name), ("Permissions", permissions(entries))])
