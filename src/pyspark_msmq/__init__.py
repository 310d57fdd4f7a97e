"""Found by Spark on its own: registers the data source `msmq`, with no call."""

from openmsmq.spark.source import MsmqDataSource

__all__ = ["DefaultSource"]


class DefaultSource(MsmqDataSource):
    """The data source under the name that Spark looks for."""
