"""The columns of a DataFrame as properties of the sent messages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
)

from openmsmq.spark.columns import COLUMNS
from openmsmq.spark.options.names import camel
from openmsmq.spark.options.records import WRITABLE, WriteOptions
from openmsmq.wire.errors import ConfigError

_TEXT: Final = (StringType,)
_BYTES: Final = (BinaryType,)
_WHOLE: Final = (ByteType, ShortType, IntegerType, LongType)
_TYPES: Final[dict[str, tuple[type[DataType], ...]]] = {
    "queue": _TEXT,
    "body": (*_BYTES, *_TEXT),
    "label": _TEXT,
    "body_type": _WHOLE,
    "priority": _WHOLE,
    "correlation_id": (*_TEXT, *_BYTES),
    "app_specific": _WHOLE,
    "extension": _BYTES,
    "delivery": _TEXT,
    "time_to_reach_queue": _WHOLE,
    "time_to_be_received": _WHOLE,
    "response_queue": _TEXT,
    "admin_queue": _TEXT,
    "acknowledge": (*_WHOLE, *_TEXT),
    "journal": (*_WHOLE, BooleanType),
    "class": _WHOLE,
    "raw_packet": _BYTES,
    "transactional": (BooleanType,),
}
# The command line's word for it.
_ALIASES: Final = {"acknowledge": "ack"}
# Rows that were read tell so of the message that they were: only an option makes it count.
_NAMED_ONLY: Final = frozenset({"transactional"})
# The queue manager gives these to every message itself, so a row that was read can be written.
_GIVEN_BY_THE_QUEUE_MANAGER: Final = COLUMNS.keys() - set(WRITABLE) | _NAMED_ONLY


@dataclass(frozen=True, slots=True)
class WriteColumns:
    """The columns that are used: property of a message -> name of the column."""

    names: Mapping[str, str]
    text_body: bool

    def name(self, prop: str) -> str:
        """How the user calls a property."""
        return self.names.get(prop, prop)


def write_columns(schema: StructType, options: WriteOptions) -> WriteColumns:
    """Find the columns to use.

    Raises:
        ConfigError: a column is missing, is not known or has a type that does not fit.
    """
    names = _find(schema, options)
    for prop, name in names.items():
        data_type = schema[name].dataType
        if not isinstance(data_type, _TYPES[prop]):
            allowed = ", ".join(kind().simpleString() for kind in _TYPES[prop])
            raise ConfigError(f"column {name}: is {data_type.simpleString()}; allowed is {allowed}")
    if not options.ignore_unknown_columns:
        _check_known(schema, names)
    if "body" not in names and "raw_packet" not in names:
        raise ConfigError("column body: missing; rows need a column body or raw_packet")
    if options.queue is None and "queue" not in names:
        raise ConfigError("option queue: needed, because there is no column queue (queueColumn)")
    text = "body" in names and isinstance(schema[names["body"]].dataType, StringType)
    return WriteColumns(names, text)


def _find(schema: StructType, options: WriteOptions) -> dict[str, str]:
    names: dict[str, str] = {}
    for prop in WRITABLE:
        renamed = options.columns.get(prop)
        if renamed is not None:
            if renamed not in schema.names:
                raise ConfigError(
                    f"option {camel(prop)}Column: there is no column {renamed!r}; "
                    f"the columns are {', '.join(schema.names)}"
                )
            names[prop] = renamed
        elif prop == "queue" and options.queue is not None:
            # Rows that were read name the queue that they come from.
            continue
        elif prop not in _NAMED_ONLY:
            for name in (_ALIASES.get(prop, prop), prop):
                if name in schema.names:
                    names[prop] = name
    return names


def _check_known(schema: StructType, names: Mapping[str, str]) -> None:
    known = {*names.values(), *_GIVEN_BY_THE_QUEUE_MANAGER, "queue"}
    unknown = [name for name in schema.names if name not in known]
    if unknown:
        raise ConfigError(
            f"column {', '.join(unknown)}: no property of a message; the properties are "
            f"{', '.join(WRITABLE)}. Drop it, rename it or set ignoreUnknownColumns=true"
        )
