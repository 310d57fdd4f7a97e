"""Moments that come out of Spark."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tests.spark.pipelines.zones import NEW_YORK, machine_in

from openmsmq.spark.pipelines.support.moments import collect_utc

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_moments_are_in_utc_also_in_the_night_when_clocks_are_set_back(
    spark: "SparkSession",
) -> None:
    first = datetime(2026, 11, 1, 5, 30, 0, 123456, tzinfo=UTC)
    rows = [(1, first), (2, first + timedelta(hours=1)), (3, None)]
    with machine_in(NEW_YORK):
        found = collect_utc(spark.createDataFrame(rows, "number int, time timestamp"))
    assert [(row["number"], row["time"]) for row in found] == rows
    assert found[0]["time"].utcoffset() == timedelta(0)
