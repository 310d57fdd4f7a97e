"""The queues of a query: by name, by pattern, by kind."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.client.machines import format_name_at, other_machine
from openmsmq.client.properties import Access
from openmsmq.spark.options.reading import OUTGOING, QUEUE, ReadOptions, kind_of
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName, DirectProtocol
from openmsmq.wire.names.format_name import parse_queue_reference
from openmsmq.wire.names.path_name import PathName

_SUFFIXES: Final = {"journal": "journal", "deadletter": "deadletter", "xact_deadletter": "deadxact"}
_LOCAL: Final = "DIRECT=OS:.\\"


@dataclass(frozen=True, slots=True)
class SourceQueue:
    """A queue to read.

    Attributes:
        key: the name that offsets have, which a new computer name does not change.
        name: the format name that rows have.
        kind: the word for its kind in rows.
        opened_as: the name that it is opened by.
        machine: the GUID of its queue manager; empty if that does not tell.
    """

    key: str
    name: str
    kind: str
    opened_as: str
    machine: str = ""

    @property
    def peek_access(self) -> Access:
        """The access that reads without taking."""
        return "peek_admin" if self.kind == OUTGOING else "peek"


def select_queues(manager: QueueManager, options: ReadOptions) -> list[SourceQueue]:
    """The queues of a query as they are now.

    Raises:
        QueueError: a name is not well formed.
    """
    names: Iterable[str]
    if options.kind == OUTGOING:
        machine = manager.identity.guid
        names = _outgoing(manager, options)
        return [SourceQueue(name, name, OUTGOING, name, machine) for name in names]
    if options.queue_pattern is not None:
        names = _matching(manager, options.queue_pattern)
    elif options.queues:
        names = options.queues
    else:
        names = [".\\system$"]
    suffix = _suffix(options)
    return [_source(manager, name + suffix) for name in names]


def is_selected(manager: QueueManager, options: ReadOptions, key: str) -> bool:
    """Whether a query means the queue of this key, be it there or not."""
    if options.queue_pattern is None:
        return any(queue.key == key for queue in select_queues(manager, options))
    if options.kind == OUTGOING:
        return fnmatchcase(key.lower(), options.queue_pattern.lower())
    suffix = _suffix(options).lower()
    local = key.lower().removeprefix(_LOCAL.lower())
    return local.endswith(suffix) and _matches(
        manager, local.removesuffix(suffix), options.queue_pattern
    )


def _suffix(options: ReadOptions) -> str:
    if options.kind != QUEUE:
        return f";{_SUFFIXES[options.kind]}"
    return f";{options.subqueue}" if options.subqueue else ""


def key_of(manager: QueueManager, text: str) -> str:
    """The name that offsets have for a queue, whatever spelling the user chose."""
    return _source(manager, text).key


def not_found(manager: QueueManager, queue: SourceQueue, error: QueueError) -> QueueError:
    """The same error, with the name of the queue manager."""
    if error.code != Hresult.MQ_ERROR_QUEUE_NOT_FOUND:
        return error
    return QueueError(error.code, f"{queue.opened_as} is not a queue of {manager.identity.name}")


def _source(manager: QueueManager, text: str) -> SourceQueue:
    here, machine = manager.identity.name, manager.identity.guid
    if other_machine(text, manager.identity.names) is not None:
        raise QueueError(
            Hresult.MQ_ERROR_QUEUE_NOT_FOUND,
            f"{text} is not a queue of {here}. A queue of another machine is read with the option "
            "endpoint: the queue manager there, or msmq://host for any MSMQ server",
        )
    reference = parse_queue_reference(text)
    kind = kind_of(reference)
    path = reference if isinstance(reference, PathName) else None
    if isinstance(reference, DirectFormatName) and (
        reference.protocol is DirectProtocol.OS or reference.address.lower() == here.lower()
    ):
        path = reference.path_name
    if path is None:
        return SourceQueue(str(reference), str(reference), kind, text, machine)
    if path.is_local or path.computer.lower() == here.lower():
        name = str(format_name_at(here, f".\\{path.queue_name}"))
        return SourceQueue(f"{_LOCAL}{path.queue_name}", name, kind, text, machine)
    name = f"DIRECT=OS:{path}"
    return SourceQueue(name, name, kind, text, machine)


def _matching(manager: QueueManager, pattern: str) -> list[str]:
    paths: list[str] = [queue["path"] for queue in manager.queues()]
    names = (path.partition("\\")[2] for path in paths)
    return sorted(f".\\{name}" for name in names if _matches(manager, name, pattern))


def _matches(manager: QueueManager, name: str, pattern: str) -> bool:
    """Whether a pattern means a queue of this machine, with the machine's name or without."""
    wanted = pattern.lower().removeprefix(".\\")
    whole = f"{manager.identity.name}\\{name}"
    return any(fnmatchcase(text.lower(), wanted) for text in (name, whole))


def _outgoing(manager: QueueManager, options: ReadOptions) -> list[str]:
    if options.queue_pattern is None:
        return [str(parse_queue_reference(name)) for name in options.queues]
    wanted = options.queue_pattern.lower()
    names: list[str] = [queue["destination"] for queue in manager.outgoing()]
    return sorted(name for name in names if fnmatchcase(name.lower(), wanted))
