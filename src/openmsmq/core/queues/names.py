"""Resolving names: a queue of this queue manager, or one on another machine."""

from typing import Final

from openmsmq.core.model.queue import Queue
from openmsmq.core.state import State
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.direct_format_name import DirectFormatName, direct_name
from openmsmq.wire.names.format_name import (
    ConnectorFormatName,
    FormatName,
    MachineFormatName,
    MulticastFormatName,
    PrivateFormatName,
    PublicFormatName,
    SingleFormatName,
    parse_queue_reference,
)
from openmsmq.wire.names.path_name import LOCAL_COMPUTER, PathName, parse_path_name
from openmsmq.wire.names.queue_name import QueueName, QueueScope, Suffix

_PLAIN: Final = ".\\private$\\"


def is_this_machine(state: State, host: str) -> bool:
    """Whether a host name or address is one of this queue manager."""
    name = host.strip("[]").lower()
    if name == LOCAL_COMPUTER or name in state.settings.names:
        return True
    manager = state.manager
    return name in (manager.computer_name.lower(), manager.qualified_computer_name.lower())


def own_names(state: State) -> tuple[str, ...]:
    """The host names and addresses of this queue manager, in lower case."""
    manager = state.manager
    names = {manager.computer_name.lower(), manager.qualified_computer_name.lower()}
    return tuple(sorted({LOCAL_COMPUTER, *state.settings.names, *names} - {""}))


def find_by_path(state: State, path: str) -> Queue:
    """The queue of this machine with a path name.

    Raises:
        QueueError: MQ_ERROR_QUEUE_NOT_FOUND.
    """
    queue = state.paths.get(parse_local_path(state, path).queue_name.key)
    if queue is None:
        raise QueueError(Hresult.MQ_ERROR_QUEUE_NOT_FOUND, path)
    return queue


def find_plainly_named(state: State, text: str) -> Queue | None:
    r"""A queue of this machine, if the text is its path in the plain form `.\private$\NAME`.

    A program may use thousands of queues by name: an existing one is found without a parser.
    """
    if text[: len(_PLAIN)] != _PLAIN or ";" in text:
        return None
    return state.paths.get(text[2:].lower())


def find_queue(state: State, name: SingleFormatName) -> Queue | None:
    """The queue of this queue manager with this name, if it exists."""
    if isinstance(name, DirectFormatName):
        local = is_this_machine(state, name.address)
        return state.paths.get(name.queue_name.key) if local else None
    if isinstance(name, PublicFormatName):
        return _with_suffix(state.identifiers.get(name.guid), name.suffix)
    if isinstance(name, PrivateFormatName):
        if name.guid != state.manager.identifier:
            return None
        return _with_suffix(state.private_numbers.get(name.number), name.suffix)
    if isinstance(name, MachineFormatName):
        if name.guid != state.manager.identifier:
            return None
        return state.paths.get(QueueName(QueueScope.SYSTEM, "", name.suffix).key)
    if isinstance(name, ConnectorFormatName):
        return state.paths.get(name.key)
    return None


def _with_suffix(queue: Queue | None, suffix: Suffix) -> Queue | None:
    return queue.journal if queue is not None and suffix is Suffix.JOURNAL else queue


def is_local_name(state: State, name: SingleFormatName) -> bool:
    """Whether the name can only be that of a queue of this queue manager, existing or not."""
    if isinstance(name, DirectFormatName):
        return is_this_machine(state, name.address)
    if isinstance(name, PrivateFormatName | MachineFormatName):
        return name.guid == state.manager.identifier
    return False


def is_web(name: SingleFormatName) -> bool:
    """Whether messages to this name travel over HTTP or HTTPS."""
    return isinstance(name, DirectFormatName) and name.is_web


def is_read_only(name: SingleFormatName) -> bool:
    """Whether programs cannot send there: the queue manager itself puts messages there."""
    if isinstance(name, DirectFormatName):
        return name.queue_name.suffix is not Suffix.NONE
    if isinstance(name, PublicFormatName | PrivateFormatName):
        return name.suffix is not Suffix.NONE
    return isinstance(name, MachineFormatName)


def is_send_only(name: SingleFormatName) -> bool:
    """Whether the queue cannot be read."""
    return is_web(name) or isinstance(name, MulticastFormatName)


def parse_name(state: State, text: str) -> FormatName:
    """A format name, or a path name as the direct format name with the same meaning.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_FORMATNAME or MQ_ERROR_ILLEGAL_QUEUE_PATHNAME.
    """
    name = parse_queue_reference(text)
    if not isinstance(name, PathName):
        return name
    computer = state.manager.computer_name if name.is_local else name.computer
    return direct_name(computer, name.queue_name)


def parse_local_path(state: State, text: str) -> PathName:
    """A path name of this machine.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_QUEUE_PATHNAME, or MQ_ERROR_QUEUE_NOT_FOUND for others.
    """
    path = parse_path_name(text)
    if not is_this_machine(state, path.computer):
        raise QueueError(
            Hresult.MQ_ERROR_QUEUE_NOT_FOUND,
            f"{path.computer} is not this queue manager",
            cause="The queue belongs to another computer, or the computer name is misspelt.",
            remedy=(
                f"Write '.\\{path.queue_name}' for this computer. If {path.computer} is another "
                "name of it, add it to `names` in the configuration."
            ),
        )
    return path
