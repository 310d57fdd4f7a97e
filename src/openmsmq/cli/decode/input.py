"""The bytes that `openmsmq decode` reads, as they come: nothing waits for more than there is."""

import io
import select
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK: Final = 0x10000
# The smallest packet: no kind of input has less to show, or is told by less.
_SNIFFED: Final = 24


class Source(Protocol):
    """What is read: a file, a pipe, or what gzip unpacks."""

    def read1(self, size: int, /) -> bytes: ...

    def fileno(self) -> int: ...


class LiveInput(io.RawIOBase):
    """A file of which the first bytes are known before it is read from its start on.

    Args:
        file: what to read; it may go on for as long as a capture runs.
        before_read: called before each read, which may wait: what is known by then is to be shown.
    """

    def __init__(self, file: Source, before_read: Callable[[], None]) -> None:
        self._file = file
        self._before_read = before_read
        self._pending = self.head = self._read_head()

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer)
        if self._pending:
            data, self._pending = self._pending[: len(view)], self._pending[len(view) :]
        else:
            self._before_read()
            data = self._file.read1(len(view))
        view[: len(data)] = data
        return len(data)

    def read1(self, size: int, /) -> bytes:
        """At most so many bytes: those that are there, after waiting for the first; none at the
        end."""
        return self.read(size) or b""

    def chunks(self) -> Iterator[bytes]:
        """All bytes, as they come."""
        return iter(lambda: self.read1(CHUNK), b"")

    def buffered(self) -> io.BufferedReader:
        """The same for those who read a few bytes at a time."""
        return io.BufferedReader(self, CHUNK)

    def would_wait(self) -> bool:
        """Whether nothing can be read at once, as far as the system tells: never of files."""
        if self._pending:
            return False
        try:
            return not select.select([self], [], [], 0)[0]
        except (OSError, ValueError):
            return False

    def _read_head(self) -> bytes:
        head = b""
        while len(head) < _SNIFFED:
            self._before_read()
            data = self._file.read1(CHUNK)
            if not data:
                break
            head += data
        return head
