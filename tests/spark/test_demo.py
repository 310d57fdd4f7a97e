"""`openmsmq demo` to its end, which needs Spark."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.runner import run

from openmsmq.cli.demo.audit import EXPECTED, SENT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.timeout(
    400
)  # two queue managers, an archive and an audit on a machine that may be busy
def test_the_demo_ends_with_an_audit_whose_numbers_add_up(
    spark: "SparkSession", tmp_path: Path
) -> None:
    outcome = run("demo", "--output", str(tmp_path))
    assert (outcome.code, outcome.err) == (0, "")
    assert "\nEverything above went as it should.\n" in outcome.out
    told = outcome.out.partition("\n6. ")[2]
    assert f" {SENT} messages archived from the journal of alpha; the manifest proves" in told
    counts = {
        name: int(count) for count, name in re.findall(r"^ +(\d+) ([a-z -]+)$", told, re.MULTILINE)
    }
    assert counts.pop("in all") == SENT == sum(EXPECTED.values())
    assert counts == EXPECTED
    report = Path(re.findall(r"report: (.+)", told)[0])
    shown = re.search(r"<tfoot>.*?</tfoot>", report.read_text(encoding="utf-8"), re.DOTALL)
    assert shown
    assert re.findall(r">([^<\s]+)<", shown[0])[:3] == ["Total", f"{SENT:,}", "100.0%"]
    # The session of the tests is not the demonstration's to stop.
    assert spark.range(1).count() == 1
