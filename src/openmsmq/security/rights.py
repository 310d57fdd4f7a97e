"""Access rights in words: the names that `queue grant` and `queue revoke` use."""

from collections.abc import Iterable, Mapping
from typing import Final

from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

# Wide words first: a mask is described by the fewest words.
QUEUE_RIGHTS: Final = {
    "full": QueueRight.QUEUE_GENERIC_ALL,
    "receive": QueueRight.RECEIVE_MESSAGE,
    "receive-journal": QueueRight.RECEIVE_JOURNAL_MESSAGE,
    "peek": QueueRight.PEEK_MESSAGE,
    "send": QueueRight.WRITE_MESSAGE,
    "delete-message": QueueRight.DELETE_MESSAGE,
    "delete-journal-message": QueueRight.DELETE_JOURNAL_MESSAGE,
    "set-properties": QueueRight.SET_QUEUE_PROPERTIES,
    "get-properties": QueueRight.GET_QUEUE_PROPERTIES,
    "delete": QueueRight.DELETE_QUEUE,
    "get-permissions": QueueRight.GET_QUEUE_PERMISSIONS,
    "change-permissions": QueueRight.CHANGE_QUEUE_PERMISSIONS,
    "take-ownership": QueueRight.TAKE_QUEUE_OWNERSHIP,
}
MACHINE_RIGHTS: Final = {
    "full": MachineRight.MACHINE_GENERIC_ALL,
    "receive-deadletter": MachineRight.RECEIVE_DEADLETTER_MESSAGE,
    "receive-journal": MachineRight.RECEIVE_JOURNAL_QUEUE_MESSAGE,
    "peek-deadletter": MachineRight.PEEK_DEADLETTER_MESSAGE,
    "peek-journal": MachineRight.PEEK_JOURNAL_QUEUE_MESSAGE,
    "create-queue": MachineRight.CREATE_QUEUE,
    "delete-deadletter-message": MachineRight.DELETE_DEADLETTER_MESSAGE,
    "delete-journal-message": MachineRight.DELETE_JOURNAL_QUEUE_MESSAGE,
    "set-properties": MachineRight.SET_MACHINE_PROPERTIES,
    "get-properties": MachineRight.GET_MACHINE_PROPERTIES,
    "delete": MachineRight.DELETE_MACHINE,
    "get-permissions": MachineRight.GET_MACHINE_PERMISSIONS,
    "change-permissions": MachineRight.CHANGE_MACHINE_PERMISSIONS,
    "take-ownership": MachineRight.TAKE_MACHINE_OWNERSHIP,
}
# Words that are understood but not used in answers.
QUEUE_SYNONYMS: Final = {
    "all": QueueRight.QUEUE_GENERIC_ALL,
    "full-control": QueueRight.QUEUE_GENERIC_ALL,
    "read": QueueRight.QUEUE_GENERIC_READ,
    "write": QueueRight.WRITE_MESSAGE,
    "write-message": QueueRight.WRITE_MESSAGE,
    "receive-message": QueueRight.RECEIVE_MESSAGE,
    "peek-message": QueueRight.PEEK_MESSAGE,
    "delete-queue": QueueRight.DELETE_QUEUE,
    "set-permissions": QueueRight.CHANGE_QUEUE_PERMISSIONS,
}
MACHINE_SYNONYMS: Final = {
    "all": MachineRight.MACHINE_GENERIC_ALL,
    "full-control": MachineRight.MACHINE_GENERIC_ALL,
    "read": MachineRight.MACHINE_GENERIC_READ,
    "write": MachineRight.MACHINE_GENERIC_WRITE,
    "set-permissions": MachineRight.CHANGE_MACHINE_PERMISSIONS,
}


def queue_rights(words: Iterable[str]) -> int:
    """The rights on a queue that the words name.

    Raises:
        QueueError: no word, or one that is not a right; the text lists the rights.
    """
    return _mask(words, QUEUE_RIGHTS, QUEUE_SYNONYMS)


def machine_rights(words: Iterable[str]) -> int:
    """The rights on the queue manager that the words name.

    Raises:
        QueueError: no word, or one that is not a right; the text lists the rights.
    """
    return _mask(words, MACHINE_RIGHTS, MACHINE_SYNONYMS)


def describe_queue_rights(mask: int) -> list[str]:
    """The fewest words for the rights on a queue; a bit without a word is shown as a number."""
    return _words(mask, QUEUE_RIGHTS)


def describe_machine_rights(mask: int) -> list[str]:
    """The fewest words for the rights on the queue manager."""
    return _words(mask, MACHINE_RIGHTS)


def _mask(words: Iterable[str], rights: Mapping[str, int], synonyms: Mapping[str, int]) -> int:
    mask = 0
    for word in words:
        # The names of the specification are understood, too: MQSEC_RECEIVE_MESSAGE.
        name = word.strip().lower().removeprefix("mqsec_").replace("_", "-")
        right = rights.get(name, synonyms.get(name, 0))
        if not right:
            raise _wrong(f"{word!r} must be one of {', '.join(rights)}")
        mask |= int(right)
    if not mask:
        raise _wrong(f"name at least one of {', '.join(rights)}")
    return mask


def _wrong(detail: str) -> QueueError:
    return QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, f"rights: {detail}")


def _words(mask: int, known: Mapping[str, int]) -> list[str]:
    words = []
    remaining = int(mask)
    for word, right in known.items():
        # A plain number: the complement of an IntFlag leaves out the bits without a name.
        bits = int(right)
        if mask & bits == bits and remaining & bits:
            words.append(word)
            remaining &= ~bits
    if remaining:
        words.append(f"0x{remaining:08X}")
    return words
