"""Why Spark cannot be used here."""

from openmsmq.wire.errors import MsmqError


class SparkUnavailable(MsmqError):
    """Spark cannot start; the text says what is missing and what to do about it."""

    def __init__(self, cause: str, remedy: str) -> None:
        super().__init__(cause, remedy)
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.cause}. {self.remedy}"


class DataLoss(MsmqError):
    """Messages that a query had planned, or a queue that it reads, are gone or changed."""
