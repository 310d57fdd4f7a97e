"""The output of a pipeline: its tables as Parquet, and its report."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .report import write_report
from .summary import Summary

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REPORT: Final = "report.html"


def write_outputs(
    summary: Summary, tables: "Mapping[str, DataFrame]", output: str | Path | None
) -> Summary:
    """Write each table as a folder of Parquet files and the report beside them.

    A table that is there from before is replaced. What the summary names as written stays named.

    Returns:
        The summary, with what was written.
    """
    if output is None:
        return summary
    folder = Path(output).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.write.mode("overwrite").parquet(str(folder / name))
    written = [(f"Table {name}", str(folder / name)) for name in tables]
    outputs = (*summary.outputs, *written, ("Report", str(folder / REPORT)))
    complete_summary = replace(summary, outputs=outputs)
    write_report(folder / REPORT, complete_summary)
    return complete_summary
