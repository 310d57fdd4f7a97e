"""Open files: the limit of the process, and its distribution."""

import resource
from typing import Final

from openmsmq.service.logs import FEW_FILES, log_event

# Files not used by clients: segments, sessions with other queue managers, files of the program.
OTHER_FILES: Final = 1_000
# The number of remote readers that is served even with few files.
FEWEST_READERS: Final = 50


def allow_files(needed: int, wanted: int) -> None:
    """Raise the limit of open files to `wanted`, or as far as the system allows.

    Args:
        needed: the number below which a warning is logged.
        wanted: the sum of all limits of the configuration.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < needed:
        log_event(FEW_FILES, allowed=allowed, wanted=needed)


def spare_files(local_clients: int) -> int:
    """The number of files left for remote readers beside this many clients of this machine."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        soft = 1 << 31
    return max(soft - local_clients - OTHER_FILES, FEWEST_READERS)
