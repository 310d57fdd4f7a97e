"""The page about the client is true: its examples print what they say."""

import re
from pathlib import Path
from typing import Final

import pytest

import openmsmq

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "client.md"
EXAMPLES: Final = re.findall(
    r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
# What a line prints is said behind it.
PRINTS: Final = re.compile(r"^ *print\(.*\) +# (.*)$", re.MULTILINE)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 8
    assert sum(len(PRINTS.findall(example)) for example in EXAMPLES) >= 10


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_prints_what_it_says(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(example, {"openmsmq": openmsmq})  # noqa: S102 - the page is ours
    assert capsys.readouterr().out.splitlines() == PRINTS.findall(example)
