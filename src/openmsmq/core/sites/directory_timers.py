"""The timers of the directory ([MS-MQDMPR] 3.1.2.1, 3.1.2.2, 3.1.2.5)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

DIRECTORY_ONLINE_SECONDS: Final = 60.0


class DirectoryTimer(StrEnum):
    """What is done again after a while."""

    SITES_UPDATE = "Directory Sites Update"
    SITE_GATES_UPDATE = "Directory Site Gates Update"
    SERVER_LIST_UPDATE = "Directory Server List Update"
    ONLINE = "Directory Online"


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryPeriods:
    """How often the directory is read again."""

    sites_seconds: float = 12 * 3600.0
    site_gates_seconds: float = 3600.0
    # Choice: a day, as nothing here depends on the list being fresh ([MS-MQSO] 6.4.1.2).
    server_list_seconds: float = 24 * 3600.0
