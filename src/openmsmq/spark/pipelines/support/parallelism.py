"""The number of tasks that a session runs at the same time."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark Connect does not tell.
_REMOTE: Final = 16


def parallelism(spark: "SparkSession") -> int:
    """How many tasks run at the same time, about."""
    from pyspark.sql.utils import is_remote

    return _REMOTE if is_remote() else spark.sparkContext.defaultParallelism
