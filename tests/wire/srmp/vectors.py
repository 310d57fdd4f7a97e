"""The requests of tests/vectors/srmp."""

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

FOLDER: Final = Path(__file__).parents[2] / "vectors" / "srmp"
# Any: what a receiver makes of each message, as JSON has it.
EXPECTED: Final[dict[str, dict[str, Any]]] = json.loads((FOLDER / "expected.json").read_text())


class Vector(NamedTuple):
    """A request: request line and headers, and the content after them."""

    name: str
    head: bytes
    content: bytes

    @property
    def headers(self) -> dict[str, str]:
        lines = self.head.decode().split("\r\n")[1:]
        return {name: value for name, _, value in (line.partition(": ") for line in lines) if name}

    @property
    def content_type(self) -> str:
        return self.headers["Content-Type"]


def load(path: Path) -> Vector:
    head, empty_line, content = path.read_bytes().partition(b"\r\n\r\n")
    return Vector(path.stem, head + empty_line, content)


def load_folder(folder: Path) -> dict[str, Vector]:
    """The requests of a folder by name; responses are left out."""
    vectors = (load(path) for path in sorted(folder.glob("*.http")))
    return {vector.name: vector for vector in vectors if vector.head.startswith(b"POST")}


PRINTED: Final = load_folder(FOLDER)
WIRE: Final = load_folder(FOLDER / "wire")
NORMALIZED: Final = load_folder(FOLDER / "normalized")
