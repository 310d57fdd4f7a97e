"""`openmsmq queue`: manages queues and their permissions."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from openmsmq.cli.care.options import FirstOption, RateOption, StepOption, WhereOption
from openmsmq.cli.care.running import run_spec
from openmsmq.cli.care.specs import refuse_without_where, spec_of
from openmsmq.cli.groups import Commands, add_group
from openmsmq.cli.messages.delayed import AllOption, LookupIdOption, choose
from openmsmq.cli.options.confirmation import DryRunOption, YesOption, confirm
from openmsmq.cli.options.connection import SocketOption, connect
from openmsmq.cli.options.remote import (
    AuthOption,
    LevelOption,
    PasswordFileOption,
    UserOption,
    connect_to,
    free_messages,
    info_of,
)
from openmsmq.cli.output import Column, JsonOption, print_json, print_properties, print_table, say
from openmsmq.security.rights import queue_rights
from openmsmq.terminal.progress import progress
from openmsmq.terminal.quantities import count_text, size_text
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.security.sid import ANONYMOUS, EVERYONE

from .arguments import (
    BasePriorityOption,
    CycleDelayOption,
    CyclesOption,
    HandlingOption,
    JournalQuotaOption,
    LabelOption,
    MulticastOption,
    PathArgument,
    PrincipalArgument,
    PrivacyOption,
    QuotaOption,
    RetryCountOption,
)
from .insight import explain, readers
from .text import permissions, queue_properties, queue_row

if TYPE_CHECKING:
    from openmsmq.client import QueueManager

_HELP: Final = "Create, list, show, change, purge and delete queues; manage permissions."
_COLUMNS: Final = (
    Column("Queue", cut=True),
    Column("Messages", right=True),
    Column("Size", right=True),
    Column("Oldest", right=True),
    Column("Journal", right=True, optional=True),
    Column("Properties", optional=True),
    Column("Label", cut=True, optional=True),
)
# Whom it is no use to claim to be.
_NOBODY_IN_PARTICULAR: Final = (
    "everyone",
    "anonymous",
    str(EVERYONE).lower(),
    str(ANONYMOUS).lower(),
)


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    commands: Commands = {
        "create": create,
        "list": list_queues,
        "show": show,
        "set": set_queue,
        "explain": explain,
        "readers": readers,
        "purge": purge,
        "delete": delete,
        "grant": grant,
        "revoke": revoke,
        "release": release,
    }
    add_group(app, "queue", commands, help_text=_HELP)


def create(
    path: PathArgument,
    *,
    transactional: Annotated[
        bool, typer.Option("--transactional", help="Accept transactional messages only.")
    ] = False,
    label: LabelOption = None,
    journal: Annotated[
        bool, typer.Option("--journal", help="Keep copies of received messages.")
    ] = False,
    quota: QuotaOption = None,
    journal_quota: JournalQuotaOption = None,
    authenticate: Annotated[
        bool, typer.Option("--authenticate", help="Accept signed messages only.")
    ] = False,
    privacy: PrivacyOption = None,
    base_priority: BasePriorityOption = None,
    multicast: MulticastOption = None,
    receive_retry_count: RetryCountOption = None,
    retry_cycle_delay: CycleDelayOption = None,
    max_retry_cycles: CyclesOption = None,
    receive_error_handling: HandlingOption = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Create a queue."""
    properties = given(
        transactional=transactional or None,
        label=label,
        journal=journal or None,
        quota=quota,
        journal_quota=journal_quota,
        authenticate=authenticate or None,
        privacy=privacy,
        base_priority=base_priority,
        multicast=multicast,
        receive_retry_count=receive_retry_count,
        retry_cycle_delay=retry_cycle_delay,
        max_retry_cycles=max_retry_cycles,
        receive_error_handling=receive_error_handling,
    )
    with connect(socket) as manager:
        manager.create_queue(path, **properties)
        info = manager.queue_info(path)
    if as_json:
        print_json(info)
    else:
        say(f"Created {info['path']}")


def list_queues(
    *,
    system: Annotated[
        bool,
        typer.Option("--system", help="Also queues of the system, journals and dead letters."),
    ] = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """List the queues of the queue manager.

    With --json they are in the order of creation, else sorted by name.
    """
    with connect(socket) as manager:
        if as_json:
            for queue in manager.iter_queues(include_system=system):
                print_json(queue)
            return
        queues = manager.queues(include_system=system)
    queues.sort(key=lambda queue: queue["path"].lower())
    if queues:
        print_table(_COLUMNS, map(queue_row, queues))
    else:
        typer.echo(r"There is no queue. Create one: openmsmq queue create '.\private$\orders'")


def show(path: PathArgument, *, as_json: JsonOption = False, socket: SocketOption = None) -> None:
    """Show the properties, contents and permissions of a queue."""
    with connect(socket) as manager:
        info = manager.queue_info(path)
    if as_json:
        print_json(info)
    else:
        print_properties(queue_properties(info))


def set_queue(
    path: PathArgument,
    *,
    transactional: Annotated[
        bool | None,
        typer.Option(help="Must be the current value: it cannot be changed."),
    ] = None,
    label: LabelOption = None,
    journal: Annotated[
        bool | None, typer.Option(help="Whether to keep copies of received messages.")
    ] = None,
    quota: QuotaOption = None,
    journal_quota: JournalQuotaOption = None,
    authenticate: Annotated[
        bool | None, typer.Option(help="Whether to accept signed messages only.")
    ] = None,
    privacy: PrivacyOption = None,
    base_priority: BasePriorityOption = None,
    multicast: MulticastOption = None,
    receive_retry_count: RetryCountOption = None,
    retry_cycle_delay: CycleDelayOption = None,
    max_retry_cycles: CyclesOption = None,
    receive_error_handling: HandlingOption = None,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Change properties of a queue. Whether it is transactional cannot be changed."""
    properties = given(
        transactional=transactional,
        label=label,
        journal=journal,
        quota=quota,
        journal_quota=journal_quota,
        authenticate=authenticate,
        privacy=privacy,
        base_priority=base_priority,
        multicast=multicast,
        receive_retry_count=receive_retry_count,
        retry_cycle_delay=retry_cycle_delay,
        max_retry_cycles=max_retry_cycles,
        receive_error_handling=receive_error_handling,
    )
    if not properties:
        raise typer.BadParameter("name at least one property to change; --help lists them")
    with connect(socket) as manager:
        if manager.queue_info(path)["transactional"] == transactional:
            del properties["transactional"]
        if properties:
            manager.set_queue(path, **properties)
        info = manager.queue_info(path)
    if as_json:
        print_json(info)
    else:
        say(f"Changed {info['path']}: {', '.join(properties) or 'nothing'}")


def purge(
    path: PathArgument,
    *,
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
    """Remove all messages of a queue, or those that match --where."""
    if where is not None:
        spec = spec_of("purge", [path], where=where, first=first, rate=rate, step=step)
        run_spec(socket, spec, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    refuse_without_where(first, rate)
    with connect_to(
        path, socket, user=user, password_file=password_file, auth=auth, level=level
    ) as manager:
        info = info_of(manager, path)
        # What a reader has is removed only once it gives it back.
        count = free_messages(info) + info.get("held_messages", 0)
        if not dry_run:
            if info["messages"]:
                confirm(f"Remove {contents(info)} from {info['path']}?", yes=yes)
            with (
                progress("purging", count) as update,
                manager.open_queue(path, "receive") as queue,
            ):
                # Another machine does not say how many it has removed.
                count = queue.purge(progress=update) or count
    if as_json:
        print_json({"path": info["path"], "purged": count, "dry_run": dry_run})
    else:
        did = "Would remove" if dry_run else "Removed"
        say(f"{did} {count_text(count, 'message')} from {info['path']}")


def delete(
    path: PathArgument,
    *,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Delete a queue with its messages, subqueues and journal."""
    with connect(socket) as manager:
        info = manager.queue_info(path)
        lost = _lost_with(manager, path, info)
        if not dry_run:
            confirm(f"Delete {info['path']} with {lost}?", yes=yes)
            manager.delete_queue(path)
    if as_json:
        summary = {key: info[key] for key in ("path", "messages", "journal_messages")}
        print_json(summary | {"deleted": not dry_run, "dry_run": dry_run})
    else:
        did = "Would delete" if dry_run else "Deleted"
        say(f"{did} {info['path']} with {lost}")


def complete_right(incomplete: str) -> list[str]:
    """The words for rights that a shell may complete."""
    from openmsmq.security.rights import QUEUE_RIGHTS

    return [word for word in QUEUE_RIGHTS if word.startswith(incomplete)]


RightsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="RIGHT...",
        autocompletion=complete_right,
        help="Rights such as send, peek, receive, get-properties, delete or full.",
    ),
]


def grant(
    path: PathArgument,
    principal: PrincipalArgument,
    rights: RightsArgument,
    *,
    deny: Annotated[bool, typer.Option("--deny", help="Deny the rights instead.")] = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Grant or deny rights on a queue."""
    with connect(socket) as manager:
        entries = manager.grant(path, principal, rights, deny=deny)
        claimable = (
            not deny
            and queue_rights(rights) & QueueRight.WRITE_MESSAGE
            and principal.lower() not in _NOBODY_IN_PARTICULAR
            and not manager.queue_info(path)["authenticate"]
        )
    _show_permissions(path, entries, as_json=as_json)
    if claimable:
        say(
            f"This queue takes unsigned messages, in which anybody can claim to be {principal},\n"
            f"unless trust_claimed_senders is false. Signed messages only:\n"
            f"openmsmq queue set '{path}' --authenticate",
            err=True,
        )


def revoke(
    path: PathArgument,
    principal: PrincipalArgument,
    rights: RightsArgument,
    *,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Remove allowed or denied rights from a queue."""
    with connect(socket) as manager:
        entries = manager.revoke(path, principal, rights)
    _show_permissions(path, entries, as_json=as_json)


def _show_permissions(path: str, entries: list[dict[str, Any]], *, as_json: bool) -> None:
    """The entries that are in force now."""
    if as_json:
        print_json({"path": path, "permissions": entries})
    else:
        print_properties([("Queue", path), ("Permissions", permissions(entries))])


def contents(info: dict[str, Any]) -> str:
    """How much is in a queue, in words."""
    text = count_text(info["messages"], "message")
    if info["bytes"] is not None:
        text += f" ({size_text(info['bytes'])})"
    return text


def _lost_with(manager: "QueueManager", path: str, info: dict[str, Any]) -> str:
    """What is deleted with a queue, in words."""
    text = contents(info)
    subqueues = [manager.queue_info(f"{path};{name}") for name in info["subqueues"]]
    for count, noun, place in (
        (sum(each["messages"] for each in subqueues), "message", " in its subqueues"),
        (info["journal_messages"], "message", " in its journal"),
        (info["delayed_messages"], "delayed message", ""),
    ):
        if count:
            text += f" and {count_text(count, noun)}{place}"
    return text


def given(**properties: Any) -> dict[str, Any]:
    """The properties that were given; an enum as its word."""
    return {
        name: value.value if isinstance(value, StrEnum) else value
        for name, value in properties.items()
        if value is not None
    }


def release(
    path: PathArgument,
    *,
    lookup_id: LookupIdOption = None,
    every: AllOption = False,
    as_json: JsonOption = False,
    socket: SocketOption = None,
) -> None:
    """Release poison messages that a queue holds to its readers."""
    chosen = choose(lookup_id, every=every)
    with connect(socket) as manager:
        count = manager.release_held(path, chosen)
    if as_json:
        print_json({"path": path, "released": count})
    else:
        say(f"Released {count_text(count, 'message')} of {path}")
