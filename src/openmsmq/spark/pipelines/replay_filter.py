"""Which messages a replay takes."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from openmsmq.spark.option_values import NotAllowed, timestamp

from .errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import Column

_CLASS: Final = "MQMSG_CLASS_"
_DEAD: Final = ("deadletter", "xact_deadletter")


@dataclass(frozen=True, slots=True)
class ReplayFilter:
    """Conditions that all must hold; None where anything will do.

    Attributes:
        label: the whole label; `*` stands for any text.
        message_class: number of the class, or its name as for `reason`.
        reason: why a message died, such as `NACK_RECEIVE_TIMEOUT`; `*` stands for any text.
        since, until: when the message arrived where it is now, ISO 8601, UTC.
        correlation_id: as `{guid}\\number`.
        where: a condition in SQL over the columns of the messages.
    """

    label: str | None = None
    message_class: str | None = None
    reason: str | None = None
    since: str | None = None
    until: str | None = None
    correlation_id: str | None = None
    where: str | None = None

    def condition(self) -> "Column":
        """The conditions as one."""
        from pyspark.sql import functions as f

        found = f.lit(True)
        if self.label is not None:
            found &= _like("label", self.label)
        if self.message_class is not None:
            found &= _class(self.message_class)
        if self.reason is not None:
            found &= _like("class_name", class_text(self.reason)) & f.col("queue_kind").isin(*_DEAD)
        if self.since is not None:
            found &= f.col("arrived_time") >= f.timestamp_micros(f.lit(_micros(self.since)))
        if self.until is not None:
            found &= f.col("arrived_time") < f.timestamp_micros(f.lit(_micros(self.until)))
        if self.correlation_id is not None:
            found &= f.upper("correlation_id") == self.correlation_id.upper()
        if self.where is not None:
            found &= f.expr(f"({self.where})")
        return f.coalesce(found, f.lit(False))

    def to_dict(self) -> dict[str, Any]:
        """The conditions that there are."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def sendable() -> "Column":
    """Whether a row is a message of an application that can be sent again.

    Reports are not: acknowledgments belong to the messages that they are about. In a dead-letter
    queue the class tells why a message died, so there it says nothing of the kind.
    """
    from pyspark.sql import functions as f

    normal = (f.col("class") == 0) | f.coalesce(f.col("queue_kind").isin(*_DEAD), f.lit(False))
    return f.col("id").isNotNull() & ~f.col("encrypted") & normal


def _micros(text: str) -> int:
    """A moment as Spark counts, whatever zone its session has."""
    try:
        return round(timestamp(text) * 1_000_000)
    except NotAllowed as exc:
        raise PipelineError(
            f"the time {exc}",
            cause="Times are in ISO 8601, and in UTC unless they say otherwise.",
            remedy="Write it like 2026-01-31T12:00:00Z or 2026-01-31.",
        ) from None


def _like(column: str, text: str) -> "Column":
    from pyspark.sql import functions as f

    pattern = text.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_").replace("*", "%")
    return f.col(column).like(pattern)


def _class(text: str) -> "Column":
    from pyspark.sql import functions as f

    try:
        return f.col("class") == int(text, 0)
    except ValueError:
        return _like("class_name", class_text(text))


def class_text(text: str) -> str:
    """The name of a class as rows have it; people leave out the first words of it."""
    name = text.upper()
    return name if name.startswith((_CLASS, "*")) else _CLASS + name
