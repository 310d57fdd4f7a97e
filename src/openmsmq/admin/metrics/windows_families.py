"""The gauges of windows_exporter, so that dashboards and alerts for MSMQ keep working."""

from collections.abc import Callable, Iterator
from typing import Final

from openmsmq.admin.picture import Picture, QueuePicture

from .shown_queues import ShownQueues
from .text import Family, escaped, listed, number

ALL: Final = "Computer Queues"
_GAUGES: Final = (
    ("messages_in_queue", "Messages in the queue.", "messages"),
    ("bytes_in_queue", "Bytes of the messages in the queue.", "bytes"),
    ("messages_in_journal_queue", "Messages in the journal of the queue.", "journal_messages"),
    ("bytes_in_journal_queue", "Bytes in the journal of the queue.", "journal_bytes"),
)


def windows_families(picture: Picture, shown: ShownQueues) -> Iterator[Family]:
    """Four gauges with the label `name`, a path name with the computer."""
    computer = picture.head["status"]["name"].lower()
    queues = [queue for queue in shown.queues if queue.kind == "queue"]
    for name, description, column in _GAUGES:
        yield listed(
            f"windows_msmq_{name}",
            "gauge",
            description,
            _lines(f"windows_msmq_{name}", column, computer, queues, picture),
        )


def _lines(
    name: str, column: str, computer: str, queues: list[QueuePicture], picture: Picture
) -> Callable[[], list[str]]:
    def lines() -> list[str]:
        values = picture.columns.get(column, ())
        return [
            *(
                f'{name}{{name="{escaped(f"{computer}{chr(92)}{queue.path}")}"}} '
                f"{values[queue.row]}"
                for queue in queues
            ),
            f'{name}{{name="{ALL}"}} {number(sum(values))}',
        ]

    return lines
