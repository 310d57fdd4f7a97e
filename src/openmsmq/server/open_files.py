"""Open files: how many the process may have, and who may use them."""

import resource
from typing import Final

from openmsmq.service.logs import FEW_FILES, log_event

# Files that are no clients: segments, sessions with other queue managers, what the program needs.
OTHER_FILES: Final = 1_000
# Remote readers that are served however few files there are.
FEWEST_READERS: Final = 50


def allow_files(needed: int, wanted: int) -> None:
    """Raise the limit of open files to `wanted`, or as far as the system allows.

    Args:
        needed: with fewer, there is a warning.
        wanted: what all limits of the configuration together may use.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < needed:
        log_event(FEW_FILES, allowed=allowed, wanted=needed)


def spare_files(local_clients: int) -> int:
    """Files that are left for remote readers beside so many clients of this machine."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        soft = 1 << 31
    return max(soft - local_clients - OTHER_FILES, FEWEST_READERS)
