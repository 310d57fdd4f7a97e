"""Changes to queues and to the permissions of the queue manager by a file of definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from openmsmq.core.model.queue import Queue, QueueRole
from openmsmq.core.model.queue_properties import CHANGEABLE_PROPERTIES
from openmsmq.core.model.retry_policy import NO_POLICY, POLICY_ATTRIBUTES
from openmsmq.core.queues.access import check_machine_right, check_queue_right
from openmsmq.core.queues.creation import (
    CREATE_ATTRIBUTES,
    apply_attributes,
    create_queue,
    set_queue,
)
from openmsmq.core.queues.manager_settings import set_queue_manager
from openmsmq.core.queues.names import parse_local_path
from openmsmq.core.queues.policies import take_policy
from openmsmq.core.queues.purging import delete_queue
from openmsmq.directory.objects import NULL_GUID, QueueObject
from openmsmq.security.caller import SYSTEM_CALLER
from openmsmq.security.rights import (
    describe_machine_rights,
    describe_queue_rights,
    machine_rights,
    queue_rights,
)
from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import QueuePrivacyLevel
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.definitions.model import NO_QUOTA
from openmsmq.wire.names.queue_name import QueueScope, Suffix

from .exporting import define_queue
from .faults import at, refusal
from .plan import Change, Plan, PlanOptions
from .rights import (
    Entries,
    describe_entries,
    entries_of,
    entries_text,
    parse_entries,
    with_entries,
)

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.security.caller import Caller
    from openmsmq.security.principals import Accounts
    from openmsmq.wire.definitions.model import PermissionDefinition, QueueDefinition

# The limit of definitions in one file: all of them are carried out in one step.
MAX_QUEUES: Final = 20_000


class QueuePlanner:
    """Compares definitions with queues on behalf of a caller, and adds to a plan."""

    def __init__(
        self,
        state: State,
        plan: Plan,
        *,
        caller: Caller,
        accounts: Accounts,
        options: PlanOptions,
    ) -> None:
        self._state = state
        self._plan = plan
        self._caller = caller
        # Choice: an administrator manages definitions even of queues that grant it nothing, as it
        # may take ownership of them anyway; their messages stay closed to it.
        self._changer = SYSTEM_CALLER if caller.is_local_admin else caller
        self._accounts = accounts
        self._options = options

    def plan_queues(self, definitions: tuple[QueueDefinition, ...]) -> None:
        """Create, change and delete queues.

        Raises:
            QueueError: a definition is wrong or not allowed; its text begins with its place.
        """
        if len(definitions) > MAX_QUEUES:
            raise refusal("$.queues", f"{len(definitions)} queues are more than {MAX_QUEUES}")
        listed: dict[str, int] = {}
        for number, definition in enumerate(definitions):
            place = f"$.queues[{number}]"
            with at(f"{place}.path"):
                key = self._key(definition.path)
            if listed.setdefault(key, number) != number:
                raise refusal(f"{place}.path", f"queues[{listed[key]}] has the same path")
        # Deletions come first: they make room.
        for queue in _user_queues(self._state):
            if queue.path.lower() not in listed:
                self._plan_unlisted(queue)
        for number, definition in enumerate(definitions):
            self._plan_queue(definition, f"$.queues[{number}]")

    def _key(self, path: str) -> str:
        # A path without a computer names a queue of this machine.
        text = path if _has_computer(path) else f".\\{path}"
        name = parse_local_path(self._state, text).queue_name
        if name.suffix is not Suffix.NONE or name.scope is QueueScope.SYSTEM:
            raise QueueError(Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME, f"{path} cannot be created")
        return name.key

    def _plan_unlisted(self, queue: Queue) -> None:
        if not self._options.prune:
            self._plan.add([Change(action="unlisted", kind="queue", name=queue.path)], None)
            return
        place = "$.queues"
        with at(place):
            check_queue_right(queue, self._changer, QueueRight.DELETE_QUEUE)
        count = _held(queue)
        if count and not self._options.force:
            raise refusal(
                place,
                f"{queue.path} is not listed and holds {_count_text(count)}",
                remedy="List it, empty it first, or delete it with its messages: --force.",
            )
        # The messages lost with the queue; an empty queue loses none.
        held = {"property": "messages", "before": f"{count:,}"} if count else {}
        change = Change(action="delete", kind="queue", name=queue.path, **held)
        self._plan.add([change], lambda: self._delete(queue))

    def _delete(self, queue: Queue) -> None:
        try:
            delete_queue(self._state, queue, caller=self._changer)
        except QueueError as exc:
            # The directory has deleted a public queue already.
            if exc.code != Hresult.MQ_ERROR_QUEUE_NOT_FOUND:
                raise

    def _plan_queue(self, definition: QueueDefinition, place: str) -> None:
        attributes = _attributes(definition, place)
        entries = self._entries(definition.permissions, f"{place}.permissions")
        queue = self._state.paths.get(self._key(definition.path))
        if queue is None:
            self._plan_creation(definition, attributes, entries, place)
        elif queue.properties.transactional != definition.transactional:
            self._plan_recreation(queue, definition, attributes, entries, place)
        else:
            self._plan_change(queue, definition, attributes, entries, place)

    def _entries(
        self, definitions: tuple[PermissionDefinition, ...] | None, place: str
    ) -> Entries | None:
        if definitions is None:
            return None
        return parse_entries(definitions, place, accounts=self._accounts, rights=queue_rights)

    def _plan_creation(
        self,
        definition: QueueDefinition,
        attributes: dict[str, Any],
        entries: Entries | None,
        place: str,
        *,
        action: str = "create",
    ) -> None:
        with at(place):
            check_machine_right(self._state, self._caller, MachineRight.CREATE_QUEUE)
        path = self._key(definition.path)
        name = parse_local_path(self._state, f".\\{path}").queue_name
        if name.scope is QueueScope.PUBLIC and not self._state.local.directory_integrated:
            raise QueueError(
                Hresult.MQ_ERROR_UNSUPPORTED_OPERATION,
                f"{place}.path: a public queue needs a directory",
                remedy="Name a private queue (private$\\...), or start with a directory.",
            )
        shown_path = definition.path if not _has_computer(definition.path) else str(name)

        def create() -> None:
            wanted = {**attributes, "transactional": definition.transactional}
            created = create_queue(
                self._state,
                f".\\{shown_path}",
                caller=self._caller,
                attributes=wanted,
                skip_directory=False,
            )
            if entries is not None:
                self._set_rights(created.value, entries)

        self._plan.add([Change(action=action, kind="queue", name=shown_path)], create)

    def _plan_recreation(
        self,
        queue: Queue,
        definition: QueueDefinition,
        attributes: dict[str, Any],
        entries: Entries | None,
        place: str,
    ) -> None:
        count = _held(queue)
        if not self._options.compare and (count or not self._options.recreate):
            contents = f" and holds {_count_text(count)}" if count else ""
            raise refusal(
                f"{place}.transactional",
                f"{queue.path} is {'' if queue.properties.transactional else 'not '}"
                f"transactional{contents}, which cannot be changed",
                remedy="Replace an empty queue with --recreate; empty it first if it holds some.",
            )
        with at(place):
            check_queue_right(queue, self._changer, QueueRight.DELETE_QUEUE)
        self._plan.add([], lambda: self._delete(queue))
        self._plan_creation(definition, attributes, entries, place, action="recreate")

    def _plan_change(
        self,
        queue: Queue,
        definition: QueueDefinition,
        attributes: dict[str, Any],
        entries: Entries | None,
        place: str,
    ) -> None:
        now = define_queue(queue, accounts=self._accounts)
        properties = queue.properties
        names = [
            name
            for name, attribute in CHANGEABLE_PROPERTIES.items()
            if _value(queue, attribute) != attributes[attribute]
        ]
        changes = [
            Change(
                action="change",
                kind="queue",
                name=queue.path,
                property=name,
                before=_text(getattr(now, name)),
                after=_text(getattr(definition, name)),
            )
            for name in names
        ]
        if changes:
            with at(place):
                check_queue_right(queue, self._changer, QueueRight.SET_QUEUE_PROPERTIES)
            wanted = [CHANGEABLE_PROPERTIES[name] for name in names]
            changed = {attribute: attributes[attribute] for attribute in wanted}
            self._plan.add(
                changes,
                lambda: set_queue(self._state, queue, caller=self._changer, attributes=changed),
            )
        if entries is not None and entries != entries_of(properties.security):
            with at(f"{place}.permissions"):
                check_queue_right(queue, self._changer, QueueRight.CHANGE_QUEUE_PERMISSIONS)
            change = Change(
                action="change",
                kind="queue",
                name=queue.path,
                property="permissions",
                before=entries_text(now.permissions or ()),
                after=self._rights_text(entries, describe_queue_rights),
            )
            self._plan.add([change], lambda: self._set_rights(queue, entries))

    def _set_rights(self, queue: Queue, entries: Entries) -> None:
        security = with_entries(queue.properties.security, entries)
        set_queue(self._state, queue, caller=self._changer, attributes={"security": security})

    def _rights_text(self, entries: Entries, words: Callable[[int], list[str]]) -> str:
        return entries_text(describe_entries(entries, accounts=self._accounts, words=words))

    # The queue manager

    def plan_machine(self, definitions: tuple[PermissionDefinition, ...]) -> None:
        """Change the permissions of the queue manager.

        Raises:
            QueueError: as for queues.
        """
        place = "$.machine.permissions"
        entries = parse_entries(definitions, place, accounts=self._accounts, rights=machine_rights)
        security = self._state.manager.security
        if entries == entries_of(security):
            return
        with at(place):
            check_machine_right(self._state, self._changer, MachineRight.CHANGE_MACHINE_PERMISSIONS)
        change = Change(
            action="change",
            kind="machine",
            property="permissions",
            before=self._rights_text(entries_of(security), describe_machine_rights),
            after=self._rights_text(entries, describe_machine_rights),
        )
        attributes = {"security": with_entries(security, entries)}
        self._plan.add(
            [change],
            lambda: set_queue_manager(self._state, caller=self._changer, attributes=attributes),
        )


def _attributes(definition: QueueDefinition, place: str) -> dict[str, Any]:
    """The checked properties of a definition, by their names in the core."""
    values: dict[str, Any] = {
        "label": definition.label,
        "journaling": definition.journal,
        "quota": _quota(definition.quota),
        "journal_quota": _quota(definition.journal_quota),
        "authentication": definition.authenticate,
        "privacy_level": QueuePrivacyLevel[definition.privacy.upper()],
        "base_priority": definition.base_priority,
        "multicast_address": definition.multicast or None,
        "type": _guid(definition.type, f"{place}.type"),
        **{name: getattr(definition, name) for name in POLICY_ATTRIBUTES},
    }
    for name, attribute in CHANGEABLE_PROPERTIES.items():
        with at(f"{place}.{name}"):
            _, others = take_policy(NO_POLICY, {attribute: values[attribute]})
            apply_attributes(QueueObject(), others, CREATE_ATTRIBUTES)
    return values


def _value(queue: Queue, attribute: str) -> object:
    return getattr(queue.policy if attribute in POLICY_ATTRIBUTES else queue.properties, attribute)


def _quota(quota: int | str) -> int:
    return quota if isinstance(quota, int) else NO_QUOTA


def _guid(text: str, place: str) -> UUID:
    try:
        return UUID(text) if text else NULL_GUID
    except ValueError as exc:
        raise refusal(place, f"{text!r} is not a GUID") from exc


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _has_computer(path: str) -> bool:
    """Whether a path begins with a computer: `.\\private$\\orders`, not `private$\\orders`."""
    first, separator, rest = path.partition("\\")
    return bool(separator) and (first.lower() != "private$" or "\\" in rest)


def _user_queues(state: State) -> Iterator[Queue]:
    return (queue for queue in list(state.queues.values()) if queue.role is QueueRole.USER)


def _held(queue: Queue) -> int:
    """The messages that would be deleted with a queue, including delayed and journal messages."""
    parts = [queue, *queue.subqueues.values(), *([queue.journal] if queue.journal else [])]
    return sum(part.count + len(part.pending) + len(part.delayed) for part in parts)


def _count_text(count: int) -> str:
    return f"{count:,} message{'' if count == 1 else 's'}"
