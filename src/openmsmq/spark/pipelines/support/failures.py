"""Converts failures that Spark reports back to our errors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .errors import PipelineError

# The last line of a traceback that a worker has sent; the class may stand in any module of ours.
_OURS: Final = re.compile(r"^(?:pyspark\.\S+: )?openmsmq\.(?:\w+\.)*(\w+): (.+)$", re.MULTILINE)
_REFUSED: Final = re.compile(r"(MQ_\w+): (.*)")
_REMEDIES: Final = {
    "ConfigError": ("An option has a value that cannot be used.", "Change the option."),
    "DataLoss": (
        "Planned messages were received, purged or expired, or a queue was created again.",
        "See the log of the queue manager for who took them; nothing was skipped silently.",
    ),
    "RowError": (
        "A message cannot be sent as it is, or its destination is not there.",
        "Name another destination, or leave such messages out.",
    ),
    "ConnectionLost": (
        "The queue manager does not answer, or is not reachable from all Spark workers.",
        "Start it, or name its socket or address; then run the pipeline again.",
    ),
}
_CODES: Final = {
    "ConnectionLost": Hresult.MQ_ERROR_SERVICE_NOT_AVAILABLE,
    "ConfigError": Hresult.MQ_ERROR_INVALID_PARAMETER,
}
_UNKNOWN: Final = (
    "The queue manager has refused it, or Spark cannot read or write here.",
    "Correct what the text names, and run the pipeline again; it continues where it was.",
)
# What Spark says of itself, and what it means.
_OF_SPARK: Final = {
    "[UNRESOLVED_COLUMN": (
        "A condition names a column that messages do not have.",
        "Use the columns of the data source; other texts stand in single quotes.",
    ),
    "[PARSE_SYNTAX_ERROR": (
        "A condition is no expression of SQL.",
        "Write it as after WHERE, and put it in quotes for the shell.",
    ),
    "[JAVA_GATEWAY_EXITED": (
        "Spark does not start: there is no such master, or a setting of Spark or Java is wrong.",
        "See what Spark says above. Masters are like local[2], spark://host:7077 and sc://host.",
    ),
    "Python worker failed to connect back": (
        "The machine is so busy that a Python process of Spark took over ten seconds to start.",
        "Run the pipeline again when there is less to do; it continues where it was.",
    ),
}
# What py4j puts before the text of an error in the JVM, and Java before its message.
_JAVA: Final = re.compile(r"\AAn error occurred while calling \S+\n(?:: )?(?:[\w.$]+: )?")
# The last line of what a Python process of Spark has sent.
_RAISED: Final = re.compile(r"^(?:pyspark\.\S+: )?[\w.]+(?:Error|Exception): (.+)$", re.MULTILINE)
_TRACEBACK: Final = "Traceback (most recent call last):"
_TEXT_LENGTH: Final = 500


@contextmanager
def explained() -> Iterator[None]:
    """Turn an error of Spark into the one that it reports, with cause and remedy."""
    try:
        yield
    except Exception as exc:
        if is_of_spark(exc):
            raise explain(str(exc)) from exc
        # A pipe that its reader has closed is not a failure of the pipeline.
        if not isinstance(exc, OSError) or isinstance(exc, BrokenPipeError):
            raise
        raise PipelineError(
            str(exc),
            cause="A file or folder that the pipeline needs cannot be read or written.",
            remedy="Name another one, or see to its rights and to the room on the disk.",
        ) from exc


def refused_option(text: str) -> PipelineError:
    """An option of the data source that cannot be used, as people are told."""
    cause, remedy = _REMEDIES["ConfigError"]
    return PipelineError(text, cause=cause, remedy=remedy, code=_CODES["ConfigError"])


def is_of_spark(error: Exception) -> bool:
    """Whether Spark or its bridge to the JVM raised it; neither need be installed."""
    packages = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return not packages.isdisjoint(("pyspark", "py4j"))


def headline(text: str) -> str:
    """The line of a text of Spark that says most."""
    raised = _RAISED.findall(text.partition(_TRACEBACK)[2])
    if raised:
        return str(raised[-1]).strip()
    return _JAVA.sub("", text.strip()).partition("\n")[0]


def explain(text: str) -> QueueError:
    """The failure that a text of Spark reports."""
    ours = _OURS.findall(text)
    if not ours:
        first = headline(text)
        reason = next((why for part, why in _OF_SPARK.items() if part in text), _UNKNOWN)
        return PipelineError(first[:_TEXT_LENGTH], cause=reason[0], remedy=reason[1])
    kind, detail = ours[-1]
    refused = _REFUSED.match(detail)
    if refused is not None and refused[1] in Hresult.__members__:
        return QueueError(Hresult[refused[1]], refused[2].strip())
    cause, remedy = _REMEDIES.get(kind, _UNKNOWN)
    code = _CODES.get(kind, Hresult.MQ_ERROR)
    return PipelineError(detail.strip()[:_TEXT_LENGTH], cause=cause, remedy=remedy, code=code)
