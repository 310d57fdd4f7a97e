"""The list of definitions that are known to be unreached, each with a reason."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.catalogue import CATALOGUES, CatalogueError, read_table

KNOWN: Final = CATALOGUES / "unreached.tsv"
COLUMNS: Final = ["definition", "kind", "reason"]
AHEAD: Final = "ahead"
WINDOW: Final = "window"
# Where a definition that nothing reaches must be on the list.
PACKAGES: Final = (
    "openmsmq.core.",
    "openmsmq.protocol.",
    "openmsmq.service.",
    "openmsmq.server.",
)


@dataclass(frozen=True, slots=True)
class Known:
    """A definition that nothing reaches.

    Args:
        kind: `ahead` of what will call it, so that rows which rest on it do not count, or a
            `window` through which tests look at what is reached, which takes nothing from a row.
    """

    definition: str
    kind: str
    reason: str


def read_known(path: Path = KNOWN) -> list[Known]:
    known = [Known(*fields) for fields in read_table(path, COLUMNS)]
    for entry in known:
        if entry.kind not in (AHEAD, WINDOW):
            raise CatalogueError(f"{path.name}: {entry.definition} is neither ahead nor a window")
    return known
