"""Queue managers that hand messages to each other over loopback."""

import contextlib
import socket
from pathlib import Path
from typing import Final

from .brokers import OpenMsmq

BINARY_PORT: Final = 1801
HTTP_PORT: Final = 28080


class Node(OpenMsmq):
    """A queue manager that others reach at its address."""

    def __init__(self, folder: Path, bind: str, *, compiled: bool) -> None:
        super().__init__(folder / bind, compiled=compiled)
        self.bind: Final = bind

    def answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection((self.bind, BINARY_PORT), 1):
            return super().answers()
        return False

    def command(self) -> list[str]:
        kept = [each for each in super().command() if each != "--binary-port=off"]
        return [*kept, f"--bind={self.bind}", f"--name=bench-{self.bind.replace('.', '-')}"]


class WebNode(Node):
    """A queue manager that others also reach over HTTP."""

    def command(self) -> list[str]:
        kept = [each for each in super().command() if each != "--http-port=off"]
        return [*kept, f"--http-port={HTTP_PORT}"]
