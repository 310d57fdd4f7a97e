"""Errors of the operating system as errors with a remedy."""

import errno
from pathlib import Path
from typing import Final

from openmsmq.wire.errors import StoreError

_NOT_ALLOWED: Final = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))
_NO_DIRECTORY: Final = frozenset((errno.ENOENT, errno.ENOTDIR))


def unusable_directory(directory: Path, error: OSError) -> StoreError:
    """The directory of a store cannot be used.

    Args:
        directory: the store's, inside the data directory.
        error: the error of the system.
    """
    cause = remedy = ""
    if error.errno in _NOT_ALLOWED:
        cause = f"The user of the queue manager may not write to {directory.parent}."
        remedy = (
            f"Give the user of the queue manager write access to {directory.parent}, or name "
            "another directory with --data."
        )
    text = f"{error.filename or directory}: {error.strerror or error}"
    return StoreError(text, cause=cause, remedy=remedy)


def unusable_target(target: Path, error: OSError) -> StoreError:
    """A backup cannot be written to this file."""
    cause = remedy = ""
    if error.errno in _NO_DIRECTORY:
        cause = f"The directory {target.parent} does not exist on the machine of the queue manager."
        remedy = "Make the directory, or name a file in another one."
    elif error.errno in _NOT_ALLOWED:
        cause = f"The user of the queue manager may not write to {target.parent}."
        remedy = "Name a file in a directory that the queue manager may write to."
    elif error.errno == errno.ENOSPC:
        cause = f"The disk of {target.parent} is full."
        remedy = "Free space there, or name a file on another disk."
    return StoreError(f"{target}: {error.strerror or error}", cause=cause, remedy=remedy)
