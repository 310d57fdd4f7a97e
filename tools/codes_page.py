"""Write docs/codes.md from the tables of result codes and message classes."""

from collections.abc import Iterable
from pathlib import Path

from openmsmq.wire.codes.hresult_catalogue import CATALOGUE
from openmsmq.wire.codes.message_class import MEANINGS, class_name
from openmsmq.wire.message.body_type import BodyType

PAGE = Path(__file__).resolve().parent.parent / "docs" / "codes.md"

HEAD = """\
# Codes

Written by `python -m tools.codes_page` from the tables in the code; change those, not this page.

## Result codes

Every refusal carries one of these ([MS-MQMQ] 2.4). In Python it is a `QueueError` with `code`,
`name`, `text`, `cause` and `remedy`; the command line prints the same and exits with 1. A code
that is not in this table comes from another layer, such as RPC, and is shown by its number.
"""

CLASSES = """\
## Message classes

What a message is, or what it says about another one ([MS-MQMQ] 2.2.18.1.6). The bit 0x8000 marks a
failure, 0x4000 the time after arrival, and 0x2000 an HTTP status in the lower bits. An application
may send classes of its own with bits of 0xE1FF only.
"""

BODY_TYPES = """\
## Body types

[Bodies](bodies.md) tells how each is decoded. With 0x1000 it is a vector, with 0x2000 an array of
such values. A queue manager keeps any number as it came.
"""


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    head = list(titles)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page() -> str:
    """The whole page."""
    results = table(
        ("code", "name", "what happened", "likely cause", "remedy"),
        (
            (f"0x{code:08X}", code.name, entry.text, entry.cause, entry.remedy)
            for code, entry in sorted(CATALOGUE.items())
        ),
    )
    classes = table(
        ("class", "name", "meaning"),
        ((f"0x{c:04X}", class_name(c), meaning) for c, meaning in sorted(MEANINGS.items())),
    )
    types = table(
        ("type", "name"), ((f"{body_type:d}", body_type.name) for body_type in sorted(BodyType))
    )
    return "\n".join((HEAD, results, CLASSES, classes, BODY_TYPES, types))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
