"""The README is true: its commands print what it says, and its targets exist."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
TEXT: Final = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def console_examples() -> list[tuple[str, str]]:
    """Each command of the README with the output that it shows below it."""
    shown = [part for block in blocks("console") for part in re.split(r"(?m)^\$ ", block)]
    return [
        (command, output) for command, _, output in (part.partition("\n") for part in shown if part)
    ]


@pytest.mark.parametrize(("command", "output"), console_examples())
def test_a_command_prints_what_the_readme_shows(command: str, output: str) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environ = {**os.environ, "PATH": path, "COLUMNS": "120"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )
    assert done.stdout == output


def test_the_readme_shows_commands() -> None:
    assert len(console_examples()) >= 2


def test_python_answers_as_the_readme_shows() -> None:
    (example,) = blocks("pycon")
    test = doctest.DocTestParser().get_doctest(example, {}, "README", "README.md", 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert runner.summarize(verbose=False) == (0, len(test.examples))


def test_the_targets_of_the_readme_are_in_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    assert {"demo", "test"} <= set(re.findall(r"(?m)(?:^|`)make ([a-z]+)", TEXT)) <= targets


def test_the_two_commands_come_first() -> None:
    first, *_ = re.findall(r"^```\w*\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert [line.split("#")[0].strip() for line in first.splitlines()] == ["make demo", "make test"]
