"""What kind of queue a name means: its suffix says so."""

from typing import Final

from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.format_name import (
    ConnectorFormatName,
    FormatName,
    MachineFormatName,
    PrivateFormatName,
    PublicFormatName,
)
from openmsmq.wire.names.path_name import PathName
from openmsmq.wire.names.queue_name import Suffix

QUEUE: Final = "queue"
_KINDS: Final = {
    Suffix.JOURNAL: "journal",
    Suffix.DEADLETTER: "deadletter",
    Suffix.DEADXACT: "xact_deadletter",
    Suffix.SUBQUEUE: "subqueue",
}


def kind_of(reference: PathName | FormatName) -> str:
    """The word that rows have for the kind of this queue."""
    match reference:
        case PathName() | DirectFormatName():
            suffix = reference.queue_name.suffix
        case PublicFormatName() | PrivateFormatName() | MachineFormatName() | ConnectorFormatName():
            suffix = reference.suffix
        case _:
            return QUEUE
    return _KINDS.get(suffix, QUEUE)
