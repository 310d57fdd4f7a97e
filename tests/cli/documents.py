"""Examples in documents: commands with what they print."""

import re
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[2]


class Example(NamedTuple):
    """A command, and what a document shows below it; `...` stands for anything."""

    command: str
    shown: str

    def matches(self, printed: str) -> bool:
        pattern = ".*".join(map(re.escape, self.shown.split("...")))
        return re.fullmatch(pattern, printed, re.DOTALL) is not None


def blocks(document: str, language: str) -> list[str]:
    """The blocks of a document in this language."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def steps(document: str) -> list[Example | str]:
    """Everything in a document that can be run, in its order; Python as it is."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found: list[Example | str] = []
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if language == "python":
            found.append(block)
        elif language == "console":
            for part in re.split(r"(?m)^\$ ", block)[1:]:
                command, _, shown = part.partition("\n")
                found.append(Example(command, shown))
    return found
