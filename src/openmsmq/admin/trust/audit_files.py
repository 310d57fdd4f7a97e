"""The files of the audit log, read from their ends: the newest lines first."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

BLOCK: Final = 256 * 1024


def newest_lines(paths: list[Path]) -> Iterator[bytes]:
    """The lines of some files, the last one of each first; a file that cannot be read is left out.

    Args:
        paths: the newest file first.
    """
    with ExitStack() as stack:
        files: dict[tuple[int, int], BinaryIO] = {}
        # All are opened before the first is read. A file that is renamed meanwhile is found under
        # both of its names, and read once.
        for path in paths:
            try:
                file: BinaryIO = stack.enter_context(path.open("rb"))
            except OSError:
                continue
            status = os.fstat(file.fileno())
            files.setdefault((status.st_dev, status.st_ino), file)
        for file in files.values():
            yield from _lines_from_end(file)


def _lines_from_end(file: BinaryIO) -> Iterator[bytes]:
    place = file.seek(0, os.SEEK_END)
    rest = b""
    while place:
        size = min(BLOCK, place)
        place -= size
        file.seek(place)
        rest, *lines = (file.read(size) + rest).split(b"\n")
        yield from reversed(lines)
    yield rest
