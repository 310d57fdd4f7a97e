"""The filter of a replay."""

from dataclasses import asdict, dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from openmsmq.spark.options.values import NotAllowed, timestamp
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.scalars import MessageIdentifier

if TYPE_CHECKING:
    from pyspark.sql import Column

_CLASS: Final = "MQMSG_CLASS_"
_MAX_CLASS: Final = 0xFFFF
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

    def check(self) -> None:
        """See that the conditions can hold for some message; of `where` only Spark knows all.

        Raises:
            PipelineError: one cannot.
        """
        for text in (self.message_class, self.reason):
            if text is not None:
                _check_class(text)
        moments = [_micros(text) for text in (self.since, self.until) if text is not None]
        if len(moments) == 2 and moments[0] >= moments[1]:
            raise PipelineError(
                f"nothing arrives since {self.since} and before {self.until}",
                cause="The end is not after the beginning.",
                remedy="Change one of them.",
            )
        if self.correlation_id is not None:
            _check_correlation(self.correlation_id)
        if self.where is not None and not self.where.strip():
            raise PipelineError(
                "the condition is empty",
                cause="The shell has taken its text away, or there was none.",
                remedy="Write a condition in SQL in quotes, or leave it out.",
            )

    def condition(self) -> "Column":
        """The conditions as one."""
        from pyspark.sql import functions as f

        condition = f.lit(True)
        if self.label is not None:
            condition &= _like("label", self.label)
        if self.message_class is not None:
            condition &= _class(self.message_class)
        if self.reason is not None:
            condition &= _like("class_name", class_text(self.reason)) & f.col("queue_kind").isin(
                *_DEAD
            )
        if self.since is not None:
            condition &= f.col("arrived_time") >= f.timestamp_micros(f.lit(_micros(self.since)))
        if self.until is not None:
            condition &= f.col("arrived_time") < f.timestamp_micros(f.lit(_micros(self.until)))
        if self.correlation_id is not None:
            condition &= f.upper("correlation_id") == self.correlation_id.upper()
        if self.where is not None:
            condition &= f.expr(f"({self.where})")
        return f.coalesce(condition, f.lit(False))

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


def _check_class(text: str) -> None:
    try:
        number = int(text, 0)
    except ValueError:
        pattern = class_text(text)
        names = [f"{_CLASS}{known.name}" for known in MessageClass]
        if any(fnmatchcase(name, pattern.replace("[", "[[]")) for name in names):
            return
        close = get_close_matches(pattern, names, 1)
        hint = f" Did you mean {close[0].removeprefix(_CLASS)}?" if close else ""
    else:
        if 0 <= number <= _MAX_CLASS:
            return
        hint = ""
    raise PipelineError(
        f"there is no class {text}",
        cause=f"It is neither a name of a class nor a number from 0 to {_MAX_CLASS}.{hint}",
        remedy="Write it like NACK_RECEIVE_TIMEOUT, NACK_* or 0x8002.",
    )


def _check_correlation(text: str) -> None:
    try:
        MessageIdentifier.from_text(text)
    except ValueError as exc:
        raise PipelineError(
            f"the correlation id is {exc}",
            cause="The shell has changed it, or it is the id of something else.",
            remedy="Copy it from a message, and put it in single quotes for the shell.",
        ) from None


def class_text(text: str) -> str:
    """The name of a class as rows have it; people leave out the first words of it."""
    name = text.upper()
    return name if name.startswith((_CLASS, "*")) else _CLASS + name
