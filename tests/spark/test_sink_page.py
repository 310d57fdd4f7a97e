"""The page about writing is true: its examples print what they say."""

import re
from pathlib import Path
from typing import Final

import pytest
from pyspark.sql import SparkSession

import openmsmq
from openmsmq.spark.options.records import WRITABLE, WriteOptions

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "spark-sink.md"
TEXT: Final = PAGE.read_text(encoding="utf-8")
EXAMPLES: Final = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
# What a line prints is said behind it.
PRINTS: Final = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


def test_the_examples_print_what_they_say(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {"openmsmq": openmsmq, "spark": spark}
    for example in EXAMPLES:
        exec(example, names)  # noqa: S102 - the page is ours
        assert capsys.readouterr().out.splitlines() == PRINTS.findall(example)
    assert len(EXAMPLES) == 2


def test_every_column_and_option_is_listed() -> None:
    first_cells = " ".join(line.split("|")[1] for line in TEXT.splitlines() if "|" in line)
    for column in WRITABLE:
        assert f"`{column}`" in first_cells
    others = {"connection", "columns", "ignore_unknown_columns", "body_encoding"}
    for field in WriteOptions.__dataclass_fields__.keys() - others:
        first, *rest = field.split("_")
        assert f"`{first + ''.join(map(str.capitalize, rest))}`" in first_cells
    assert "`ignoreUnknownColumns=true`" in TEXT
    assert "`bodyEncoding=utf-8`" in TEXT
