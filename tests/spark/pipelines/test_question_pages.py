"""The pages about audit, triage and latency are true: their examples print what they say."""

import re
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

import openmsmq.spark

DOCS: Final = Path(__file__).resolve().parents[3] / "docs"
# The examples follow one another: later pages use what earlier ones have made.
PAGES: Final = ("pipelines.md", "pipeline-audit.md", "pipeline-triage.md", "pipeline-latency.md")
EXAMPLE: Final = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTS: Final = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


# Several runs of Spark: slow where many tests run side by side.
@pytest.mark.timeout(300)
def test_the_examples_print_what_they_say(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(openmsmq.spark, "session", lambda: spark)
    names: dict[str, object] = {}
    for page in PAGES:
        (example,) = EXAMPLE.findall((DOCS / page).read_text(encoding="utf-8"))
        exec(example, names)  # noqa: S102 - the pages are ours
        assert capsys.readouterr().out.splitlines() == PRINTS.findall(example)
