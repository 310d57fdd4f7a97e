"""The streams that a shell gives to a command, which may be closed."""

import errno
import sys
from typing import BinaryIO, TextIO


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody sits at the other end."""
    return stream is not None and stream.isatty()


def open_stdin() -> BinaryIO:
    """The bytes of stdin.

    Raises:
        OSError: it is closed.
    """
    stream: TextIO | None = sys.stdin
    if stream is None:
        raise OSError(errno.EBADF, "it is closed")
    return stream.buffer
