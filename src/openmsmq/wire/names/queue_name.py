r"""The part of a name after the computer: `private$\orders;journal` ([MS-MQMQ] 2.1)."""

import re
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Final

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.limits import MAX_COMPUTER_NAME, MAX_QUEUE_NAME, MAX_SUBQUEUE_NAME

# Choice: the grammar ends at 0x7F, but queues with letters beyond it exist on Windows.
_QUEUE_CHARACTERS: Final = re.compile(r'[^\x00-\x20"+,;\\\x80-\x9F\uD800-\uDFFF]*')
# Choice: no comma either, which separates the elements of a multiple-element name.
_COMPUTER_CHARACTERS: Final = re.compile(r"[^\x00-\x20,;\\\x7F-\x9F\uD800-\uDFFF]*")
_SHOWN_CHARACTERS: Final = 80


class QueueScope(Enum):
    """Where a queue is listed: in the directory, on its machine only, or made by the system."""

    PUBLIC = ""
    PRIVATE = "private$"
    SYSTEM = "system$"


class Suffix(IntEnum):
    """What follows the semicolon of a name ([MS-MQMQ] 2.2.11)."""

    NONE = 0
    JOURNAL = 1
    DEADLETTER = 2
    DEADXACT = 3
    XACTONLY = 4
    SUBQUEUE = 5


SUFFIX_WORDS: Final = {
    "JOURNAL": Suffix.JOURNAL,
    "DEADLETTER": Suffix.DEADLETTER,
    "DEADXACT": Suffix.DEADXACT,
    "XACTONLY": Suffix.XACTONLY,
}
MACHINE_SUFFIXES: Final = (Suffix.JOURNAL, Suffix.DEADLETTER, Suffix.DEADXACT)
_RESERVED: Final = (QueueScope.PRIVATE.value, QueueScope.SYSTEM.value)


@dataclass(frozen=True, slots=True)
class QueueName:
    """A queue on one machine; two names are equal without regard to case.

    A system queue of the machine has an empty name and a suffix.
    """

    scope: QueueScope = field(compare=False)
    name: str = field(compare=False)
    suffix: Suffix = field(default=Suffix.NONE, compare=False)
    subqueue: str = field(default="", compare=False)
    key: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.with_separator("\\").lower())

    def with_separator(self, separator: str) -> str:
        """The text of the name; in a URL the separator is a slash."""
        if self.scope is QueueScope.SYSTEM:
            return f"system$;{self.name or self.suffix.name}"
        prefix = f"private${separator}" if self.scope is QueueScope.PRIVATE else ""
        if self.suffix is Suffix.NONE:
            return prefix + self.name
        return f"{prefix}{self.name};{self.subqueue or self.suffix.name}"

    def __str__(self) -> str:
        return self.with_separator("\\")


class NameText:
    """A name while it is parsed: the text, and the code of the error if it is wrong."""

    __slots__ = ("code", "text")

    def __init__(self, text: str, code: Hresult) -> None:
        self.text = text
        self.code = code

    def fault(self, position: int, reason: str) -> QueueError:
        """The error for what stands at `position`, counted from 0."""
        excerpt = self.text[:_SHOWN_CHARACTERS]
        more = "..." if len(self.text) > _SHOWN_CHARACTERS else ""
        return QueueError(self.code, f"{reason}, at character {position + 1} of {excerpt + more!r}")

    def computer(self, start: int, end: int) -> str:
        """The computer name in these bounds."""
        return self._checked(start, end, _COMPUTER_CHARACTERS, MAX_COMPUTER_NAME, "computer name")

    def queue(self, start: int, end: int) -> str:
        """The queue name in these bounds, without `private$`."""
        name = self._checked(start, end, _QUEUE_CHARACTERS, MAX_QUEUE_NAME, "queue name")
        if name.lower() in _RESERVED:
            raise self.fault(end, f"no queue name after {name}")
        return name

    def subqueue(self, start: int, end: int) -> str:
        """The subqueue name in these bounds."""
        return self._checked(start, end, _QUEUE_CHARACTERS, MAX_SUBQUEUE_NAME, "subqueue name")

    def _checked(
        self, start: int, end: int, characters: re.Pattern[str], limit: int, what: str
    ) -> str:
        if start == end:
            raise self.fault(start, f"no {what}")
        match = characters.match(self.text, start, end)
        stop = match.end() if match else start
        if stop < end:
            raise self.fault(stop, f"a {what} may not hold {self.text[stop]!r}")
        name = self.text[start:end]
        if len(name) > limit or (not name.isascii() and len(name.encode("utf-16-le")) > 2 * limit):
            raise self.fault(start, f"a {what} has at most {limit} characters")
        return name


def parse_queue_name(source: NameText, start: int, end: int) -> QueueName:
    r"""Parse `orders`, `private$\orders`, each with a suffix, or `system$;journal`."""
    semicolon = source.text.find(";", start, end)
    stop = end if semicolon < 0 else semicolon
    before = source.text[start:stop].lower()
    if before == QueueScope.SYSTEM.value:
        return _parse_system(source, stop, end)
    scope = QueueScope.PUBLIC
    if before.startswith("private$\\"):
        scope = QueueScope.PRIVATE
        start += len("private$\\")
    name = source.queue(start, stop)
    if stop == end:
        return QueueName(scope, name)
    suffix = SUFFIX_WORDS.get(source.text[stop + 1 : end].upper(), Suffix.SUBQUEUE)
    if suffix is Suffix.JOURNAL:
        return QueueName(scope, name, suffix)
    if suffix is Suffix.SUBQUEUE:
        return QueueName(scope, name, suffix, source.subqueue(stop + 1, end))
    raise source.fault(
        stop, f";{suffix.name} does not belong to a queue, only system$;{suffix.name} to a machine"
    )


def _parse_system(source: NameText, semicolon: int, end: int) -> QueueName:
    if semicolon == end:
        raise source.fault(end, "no ;JOURNAL, ;DEADLETTER or ;DEADXACT after system$")
    suffix = SUFFIX_WORDS.get(source.text[semicolon + 1 : end].upper(), Suffix.NONE)
    if suffix in MACHINE_SUFFIXES:
        return QueueName(QueueScope.SYSTEM, "", suffix)
    if suffix is Suffix.XACTONLY:
        raise source.fault(semicolon, ";XACTONLY belongs to connector format names only")
    return QueueName(QueueScope.SYSTEM, source.queue(semicolon + 1, end))


def move_target(source: str, target: str) -> str:
    """The name of the queue that messages are moved to: `;name` is a subqueue of the source."""
    if target.startswith(";") and target[1:].upper() not in SUFFIX_WORDS:
        return source.partition(";")[0] + target
    return target
