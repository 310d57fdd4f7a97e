r"""Path names: `COMPUTER\private$\orders` ([MS-MQMQ] 2.1.1)."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .queue_name import (
    MACHINE_SUFFIXES,
    SUFFIX_WORDS,
    NameText,
    QueueName,
    QueueScope,
    Suffix,
    parse_queue_name,
)

LOCAL_COMPUTER: Final = "."
# The words of .NET's MessageQueue.Path for the queues of the system.
_DOT_NET_QUEUES: Final = {
    "journal$": Suffix.JOURNAL,
    "deadletter$": Suffix.DEADLETTER,
    "xactdeadletter$": Suffix.DEADXACT,
}
_DOT_NET_JOURNAL: Final = "\\journal$"
_SCOPE_WORDS: Final = frozenset(("private$", "system$"))


@dataclass(frozen=True, slots=True)
class PathName:
    """A computer and a queue on it; two names are equal without regard to case."""

    computer: str = field(compare=False)
    queue_name: QueueName = field(compare=False)
    key: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", f"{self.computer.lower()}\\{self.queue_name.key}")

    @property
    def is_local(self) -> bool:
        """Whether the computer is the dot, which means this machine."""
        return self.computer == LOCAL_COMPUTER

    def __str__(self) -> str:
        return f"{self.computer}\\{self.queue_name}"


@lru_cache(maxsize=1024)
def parse_path_name(text: str) -> PathName:
    r"""Parse a path name of any form.

    Also taken are the forms of .NET (`.\orders\Journal$`, `.\Deadletter$`) and a bare
    `COMPUTER;deadletter` or `;deadletter` for a queue of the system.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_QUEUE_PATHNAME, with what is wrong and where.
    """
    source = NameText(text, Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
    backslash = text.find("\\")
    if backslash < 0:
        return _parse_machine_queue(source)
    if text[:backslash].lower() in _SCOPE_WORDS:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME,
            f"{text}: the computer is missing in front of {text[: backslash + 1]}",
            cause="A path name begins with a computer, or with a dot for this one.",
            remedy=f"Write it as '.\\{text}'.",
        )
    if "=" in text[:backslash]:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_QUEUE_PATHNAME,
            f"{text} is a format name, and a path name is needed here",
            cause="A path name begins with a computer, or with a dot for this one.",
            remedy=f"For a queue of this computer write '.{text[backslash:]}'.",
        )
    computer = source.computer(0, backslash)
    start = backslash + 1
    rest = text[start:].lower()
    if rest in _DOT_NET_QUEUES:
        return PathName(computer, QueueName(QueueScope.SYSTEM, "", _DOT_NET_QUEUES[rest]))
    if rest.endswith(_DOT_NET_JOURNAL):
        queue = parse_queue_name(source, start, len(text) - len(_DOT_NET_JOURNAL))
        if queue.suffix is Suffix.NONE and queue.scope is not QueueScope.SYSTEM:
            return PathName(computer, QueueName(queue.scope, queue.name, Suffix.JOURNAL))
        raise source.fault(len(text) - len(_DOT_NET_JOURNAL), f"{queue} has no journal")
    return PathName(computer, parse_queue_name(source, start, len(text)))


def _parse_machine_queue(source: NameText) -> PathName:
    computer, _, word = source.text.partition(";")
    suffix = SUFFIX_WORDS.get(word.upper(), Suffix.NONE)
    if suffix not in MACHINE_SUFFIXES:
        reason = r"no queue name; a path name is COMPUTER\NAME or COMPUTER\private$\NAME"
        raise source.fault(len(computer), reason)
    name = source.computer(0, len(computer)) if computer else LOCAL_COMPUTER
    return PathName(name, QueueName(QueueScope.SYSTEM, "", suffix))
