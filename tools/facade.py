"""Write the blocking facade of the client from the asynchronous one.

`client/asynchronous/` is the source. Its modules that talk to people (queue manager, queue,
transaction, iteration, ranges, other machines) become those of `client/blocking/` by the rules
below; drivers and transports differ and are written by hand. `python -m tools.facade` writes the
files, with `--check` it says which are stale.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tools.catalogue import ROOT

CLIENT: Final = ROOT / "src" / "openmsmq" / "client"
MODULES: Final = (
    "administration",
    "message_stream",
    "other_machines",
    "processing",
    "queue",
    "queue_manager",
    "ranges",
    "transaction",
)
HEAD: Final = "# Written by `python -m tools.facade` from {source}; change that, not this.\n"
# A line that only the blocking facade has: `# blocking: @property`.
ONLY_BLOCKING: Final = re.compile(r"^(\s*)# blocking: (.*)$", re.MULTILINE)
RULES: Final = tuple(
    (re.compile(pattern, re.MULTILINE), replacement)
    for pattern, replacement in (
        # What takes a round trip to make is made at once.
        (r"^from \.pending import Pending\n", ""),
        (r'return Pending\("\w+", make\)', "return make()"),
        (r'"Pending\[(\w+)\]"', r'"\1"'),
        (r"Pending\[(\w+)\]", r"\1"),
        # Words.
        (r": await it, or use it in an `async with` statement\.", "."),
        (r"\ban (`?)async with", r"a \1with"),
        (r"^ +The event loop then ends the stream when it gets to it\.\n", ""),
        (r"Tasks of one event loop may share it\.", "Threads may share it."),
        (r"\basynchronous\b", "blocking"),
        # Syntax.
        (r"^( +)for (\w+) in (\w+):\n +yield \2$", r"\1yield from \3"),
        (r"\basync (def|with|for)\b", r"\1"),
        (r"\bawait ", ""),
        (r"__a(enter|exit|iter|next)__", r"__\1__"),
        (r"\ba(next|iter)\(", r"\1("),
        (r"\.aclose\(\)", ".close()"),
        (r"\basynccontextmanager\b", "contextmanager"),
        # Types.
        (r" \| AsyncIterable\[Message \| str \| bytes\]", ""),
        (r"\bAsyncIterable, ", ""),
        (r"AsyncGenerator\[(\w+), None\]", r"Generator[\1, None, None]"),
        (r"\bAsync(Generator|Iterator)\b", r"\1"),
    )
)


def blocking(text: str, source: str) -> str:
    """The blocking form of an asynchronous module, before it is formatted."""
    text = ONLY_BLOCKING.sub(r"\1\2", text)
    for pattern, replacement in RULES:
        text = pattern.sub(replacement, text)
    return HEAD.format(source=source) + text


def formatted(text: str, path: Path) -> str:
    """The text as ruff sorts and formats it."""
    ruff = str(Path(sys.prefix) / "bin" / "ruff")
    for command in (("check", "--fix-only", "--quiet"), ("format", "--quiet")):
        text = subprocess.run(
            [ruff, *command, "--stdin-filename", str(path), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        ).stdout
    return text


def generated(module: str) -> str:
    """What a module of the blocking facade has to be."""
    source = CLIENT / "asynchronous" / f"{module}.py"
    text = blocking(source.read_text(encoding="utf-8"), f"asynchronous/{module}.py")
    return formatted(text, target(module))


def target(module: str) -> Path:
    return CLIENT / "blocking" / f"{module}.py"


def stale() -> list[str]:
    """The modules that are not what they have to be."""
    return [name for name in MODULES if target(name).read_text("utf-8") != generated(name)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say which files are stale")
    if parser.parse_args().check:
        names = stale()
        if names:
            raise SystemExit(f"stale: {', '.join(names)}; run python -m tools.facade")
        return
    for module in MODULES:
        target(module).write_text(generated(module), encoding="utf-8")


if __name__ == "__main__":
    main()
