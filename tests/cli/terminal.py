"""A command on a terminal, with somebody who reads and types."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from types import TracebackType
from typing import Final, Self

from tests.cli.running import SECONDS, Manager

ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
ROWS: Final = 24


class Terminal:
    """Runs a command of a queue manager on a terminal of its own."""

    def __init__(self, manager: Manager, *arguments: str, columns: int = 80) -> None:
        self._screen, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
        self.process = manager.start(
            *arguments, stdin=inner, stdout=inner, stderr=inner, start_new_session=True
        )
        os.close(inner)
        self._seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._screen)

    @property
    def raw(self) -> str:
        """Everything so far, with the codes that move the cursor and change colours."""
        return self._seen.decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """Everything so far, as plain lines."""
        return ESCAPES.sub("", self.raw).replace("\r\n", "\n")

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self._screen, text.encode())

    def expect(self, text: str) -> None:
        """Wait until something is there to read."""
        deadline = time.monotonic() + SECONDS
        while text not in self.text:
            assert time.monotonic() < deadline, self.text
            assert self._read(1.0), self.text

    def expect_secret(self, question: str) -> None:
        """Wait for a question whose answer is not shown; what is typed before is discarded."""
        self.expect(question)
        deadline = time.monotonic() + SECONDS
        while termios.tcgetattr(self._screen)[3] & termios.ECHO:
            assert time.monotonic() < deadline, self.text
            self._read(0.01)

    def wait(self) -> int:
        """Read until the command ends; return its exit code."""
        deadline = time.monotonic() + SECONDS
        while self._read(1.0):
            assert time.monotonic() < deadline, self.text
        return self.process.wait(SECONDS)

    def _read(self, seconds: float) -> bool:
        """Read what is there; say whether there can be more."""
        ready, _, _ = select.select([self._screen], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self._screen, 65536)
        except OSError:
            # The command has closed the terminal.
            return False
        self._seen += data
        return bool(data)
