"""Errors of the Spark data source and pipelines."""

from openmsmq.wire.errors import MsmqError


class SparkUnavailable(MsmqError):
    """Spark cannot start; the text names the missing part and the remedy."""

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause, remedy)
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.cause}. {self.remedy}"


class DataLoss(MsmqError):
    """Planned messages of a query, or a queue that it reads, were removed or changed."""
