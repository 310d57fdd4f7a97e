"""The oldest PySpark is the one that the project names."""

import pytest
from tools.catalogue import ROOT
from tools.oldest_spark import oldest


def test_the_oldest_is_that_of_the_project() -> None:
    assert oldest((ROOT / "pyproject.toml").read_text(encoding="utf-8")) == "pyspark==4.2.*"


def test_without_one_it_says_so() -> None:
    with pytest.raises(SystemExit, match="names no oldest PySpark"):
        oldest('[project.optional-dependencies]\nspark = ["pyspark"]\n')
