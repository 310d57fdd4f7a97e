"""The forms of the bytes that a signature covers, where [MS-MQMQ] 2.5 leaves them open.

Verification tries the forms in the order of these tables, where the last part varies fastest.
Signing uses the first of each unless a setting names another.
"""

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import Any, Final, NamedTuple, Self


class SignatureVersion(IntEnum):
    """Which properties a signature covers; the values of SecurityHeader.Flags.AS."""

    SIG10 = 1
    SIG20 = 3
    SIG30 = 5


class QueueForm(StrEnum):
    """How response, administration and destination queue are hashed; an absent one is nothing."""

    TEXT_NUL = "text-nul"
    TEXT = "text"
    WIRE = "wire"
    # GUIDs in lower case.
    LOWER_NUL = "lower-nul"
    LOWER = "lower"


class LabelForm(StrEnum):
    """Whether the label is hashed with its NUL."""

    NUL = "label-nul"
    BARE = "label"


class ConnectorForm(StrEnum):
    """How an absent ConnectorType is hashed."""

    ZERO = "connector-zero"
    ABSENT = "connector-absent"


class ScalarForm(StrEnum):
    """Whether two zero bytes stand before BodyType, as in a structure of C."""

    PACKED = "packed"
    ALIGNED = "aligned"


class ListForm(StrEnum):
    """Which names of the MultiQueueFormatHeader are hashed."""

    DESTINATION = "destination-list"
    ALL = "all-lists"
    TEXT = "list-text"


def choices(text: str, defaults: Iterable[tuple[str, StrEnum]]) -> dict[str, Any]:
    """What a text such as `wire/label` chooses, by the names of the choices.

    Args:
        defaults: the names, each with one of the values that there are.

    Raises:
        ValueError: it names something else, or two of one kind.
    """
    kinds = {name: type(default) for name, default in defaults}
    by_word = {str(value): (name, value) for name, kind in kinds.items() for value in kind}
    chosen: dict[str, Any] = {}
    for word in text.split("/") if text else ():
        name, value = by_word.get(word, ("", None))
        if not name:
            raise ValueError(f"{word!r} must be one of {', '.join(by_word)}")
        if name in chosen:
            raise ValueError(f"{word!r} and '{chosen[name]}' exclude each other")
        chosen[name] = value
    return chosen


class HashForm(NamedTuple):
    """One way to put the signed properties into bytes."""

    queues: QueueForm = QueueForm.TEXT_NUL
    label: LabelForm = LabelForm.NUL
    connector: ConnectorForm = ConnectorForm.ZERO
    scalars: ScalarForm = ScalarForm.PACKED
    names: ListForm = ListForm.DESTINATION

    def __str__(self) -> str:
        return "/".join(self)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The form of a text such as `wire/label`: what it does not name is as in the first form.

        Raises:
            ValueError: it names something else, or two of one kind.
        """
        return cls(**choices(text, zip(cls._fields, cls(), strict=True)))


FIRST_FORM: Final = HashForm()
