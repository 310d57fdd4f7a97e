"""The page about bodies is true: its examples print what it says."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import openmsmq.spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = Path(__file__).parents[2] / "docs" / "spark-bodies.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
# Beside the call that prints it, or below the loop.
PRINTED = re.compile(r"^(?:.*print\(.*\)  )?# (.*)$", re.MULTILINE)


def test_the_examples_print_what_the_page_shows(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(openmsmq.spark, "session", lambda _: spark)
    names: dict[str, object] = {}
    for example in EXAMPLES:
        exec(compile(example, str(PAGE), "exec"), names)  # noqa: S102 - our own page
        expected = "".join(f"{line}\n" for line in PRINTED.findall(example))
        assert capsys.readouterr().out == expected
    assert len(EXAMPLES) == 3
