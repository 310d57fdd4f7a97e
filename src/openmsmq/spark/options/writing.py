"""Options of writing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from openmsmq.wire.errors import ConfigError

from . import values
from .connection import CONNECTION, ConnectionOptions
from .names import camel, read_values, snake

# Columns that a row may have for sending, as `<name>Column` renames them.
WRITABLE: Final = (
    "queue",
    "label",
    "body",
    "body_type",
    "priority",
    "correlation_id",
    "app_specific",
    "extension",
    "delivery",
    "time_to_reach_queue",
    "time_to_be_received",
    "response_queue",
    "admin_queue",
    "acknowledge",
    "journal",
    "class",
    "raw_packet",
    "transactional",
)
WRITE: Final[dict[str, values.Reader[Any]]] = {
    "queue": values.text,
    "transaction": values.choice("batch", "partition", "none"),
    **{f"{camel(name)}Column": values.text for name in WRITABLE},
    "ignoreUnknownColumns": values.boolean,
    "onError": values.choice("fail", "deadletter", "skip"),
    "deadLetterQueue": values.text,
    "idempotencyKey": values.text,
    "purge": values.boolean,
    "transactional": values.boolean,
    "bodyEncoding": values.choice("utf-16", "utf-8"),
}


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How to write; the names are those of the options.

    Attributes:
        queue: where every row goes that names no queue itself.
        columns: property of a message -> column that holds it, where the names differ.
        transactional: what messages for another machine are where no column says so; a local
            queue says so itself.
        body_encoding: of bodies that are strings: UTF-16 as VT_BSTR, or UTF-8 with body type 0.
    """

    connection: ConnectionOptions
    queue: str | None = None
    transaction: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    ignore_unknown_columns: bool = False
    on_error: str = "fail"
    dead_letter_queue: str | None = None
    idempotency_key: str | None = None
    purge: bool = False
    transactional: bool | None = None
    body_encoding: str = "utf-16"

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> Self:
        """Read the options of a write.

        Raises:
            ConfigError: names the option and what is allowed.
        """
        settings = read_values(options, CONNECTION | WRITE)
        columns = {
            name: settings[f"{camel(name)}Column"]
            for name in WRITABLE
            if f"{camel(name)}Column" in settings
        }
        fields = {
            snake(name): value
            for name, value in settings.items()
            if name not in CONNECTION and not name.endswith("Column")
        }
        parsed = cls(ConnectionOptions.from_values(settings), columns=columns, **fields)
        if parsed.connection.is_remote_read:
            raise ConfigError(
                "option endpoint: over remote read messages cannot be sent; connect to a queue "
                "manager of openmsmq, which sends to queues of other machines"
            )
        if parsed.on_error == "deadletter" and parsed.dead_letter_queue is None:
            raise ConfigError("option deadLetterQueue: needed with onError=deadletter")
        return parsed
