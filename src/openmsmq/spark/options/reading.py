"""Options of reading."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from openmsmq.spark.columns import BODY_FORMATS, INCLUDES
from openmsmq.spark.options import values
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.format_name import (
    ConnectorFormatName,
    FormatName,
    MachineFormatName,
    PrivateFormatName,
    PublicFormatName,
    parse_queue_reference,
)
from openmsmq.wire.names.path_name import PathName
from openmsmq.wire.names.queue_name import Suffix

from .connection import CONNECTION, ConnectionOptions
from .names import exclude, read_values, snake

QUEUE: Final = "queue"
_KINDS: Final = {
    Suffix.JOURNAL: "journal",
    Suffix.DEADLETTER: "deadletter",
    Suffix.DEADXACT: "xact_deadletter",
    Suffix.SUBQUEUE: "subqueue",
}


def kind_of(reference: PathName | FormatName) -> str:
    """The word that rows have for the kind of this queue."""
    match reference:
        case PathName() | DirectFormatName():
            suffix = reference.queue_name.suffix
        case PublicFormatName() | PrivateFormatName() | MachineFormatName() | ConnectorFormatName():
            suffix = reference.suffix
        case _:
            return QUEUE
    return _KINDS.get(suffix, QUEUE)


NONE: Final = "none"
EXCLUSIVE: Final = "exclusive"
LEASE: Final = "lease"
JOURNAL: Final = "journal"
OUTGOING: Final = "outgoing"
# There is one of each on a machine, so they need no name.
DEADLETTERS: Final = ("deadletter", "xact_deadletter")
KINDS: Final = (QUEUE, JOURNAL, *DEADLETTERS, OUTGOING)
# What is left of ";spark-<name>", the name of the subqueue of a lease.
MAX_CONSUMER_NAME: Final = 26
TRIGGER_SECONDS: Final = 900.0
READ: Final[dict[str, values.Reader[Any]]] = {
    "queue": values.text,
    "queues": values.words,
    "queuePattern": values.text,
    "kind": values.choice(*KINDS),
    "subqueue": values.text,
    "consume": values.choice(NONE, EXCLUSIVE, LEASE),
    "consumerName": values.text,
    "startingOffsets": values.offsets,
    "endingOffsets": values.offsets,
    "startingTimestamp": values.timestamp,
    "endingTimestamp": values.timestamp,
    "maxMessagesPerTrigger": values.integer(1),
    "maxBytesPerTrigger": values.size,
    "minMessagesPerTrigger": values.integer(1),
    "maxTriggerDelay": values.duration,
    "minPartitions": values.integer(1, 100_000),
    "maxMessagesPerPartition": values.integer(1),
    "order": values.choice("arrival", "queue"),
    "where.label": values.text,
    "where.class": values.text,
    "where.correlationId": values.text,
    "where.priorityMin": values.integer(0, 7),
    "unmatched": values.choice("leave"),
    "isolation": values.choice("stable"),
    "pin": values.pin,
    "failOnDataLoss": values.boolean,
    "include": values.choices(*INCLUDES),
    "bodyFormat": values.choice(*BODY_FORMATS),
    "mode": values.choice("permissive", "failfast"),
}


@dataclass(frozen=True, slots=True)
class Where:
    """Which messages are wanted; None where anything is."""

    label: str | None = None
    message_class: int | None = None
    correlation_id: str | None = None
    priority_min: int | None = None

    def __bool__(self) -> bool:
        return self != Where()


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read; the names are those of the options. Times are in seconds."""

    connection: ConnectionOptions
    queues: tuple[str, ...] = ()
    queue_pattern: str | None = None
    kind: str = QUEUE
    subqueue: str | None = None
    consume: str = NONE
    consumer_name: str = ""
    starting_offsets: str | dict[str, Any] = values.EARLIEST
    ending_offsets: str | dict[str, Any] = values.LATEST
    starting_timestamp: float | None = None
    ending_timestamp: float | None = None
    max_messages_per_trigger: int | None = None
    max_bytes_per_trigger: int | None = None
    min_messages_per_trigger: int | None = None
    max_trigger_delay: float = TRIGGER_SECONDS
    min_partitions: int | None = None
    max_messages_per_partition: int | None = None
    order: str = "arrival"
    where: Where = Where()
    isolation: str = "stable"
    pin: float = 0.0
    fail_on_data_loss: bool = True
    include: tuple[str, ...] = ("headers", "body")
    body_format: str = "binary"
    mode: str = "permissive"

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> Self:
        """Read the options of a query.

        Raises:
            ConfigError: names the option and what is allowed.
        """
        settings = read_values(options, CONNECTION | READ)
        known_names = {"queue", "queues", *CONNECTION, "unmatched"}
        fields = {
            snake(name): value
            for name, value in settings.items()
            if name not in known_names and not name.startswith("where.")
        }
        parsed = cls(
            ConnectionOptions.from_values(settings),
            _queues(settings),
            where=_where(settings),
            **fields,
        )
        _check_queues(parsed, settings)
        _check_remote_read(parsed)
        _check_consume(parsed, settings)
        exclude(settings, "startingOffsets", "startingTimestamp")
        exclude(settings, "endingOffsets", "endingTimestamp")
        return parsed

    def check_batch(self) -> None:
        """Refuse what only streams can do.

        Raises:
            ConfigError: names the option.
        """
        if self.consume != NONE:
            raise ConfigError(
                f"option consume: {self.consume} is for streams; a batch read never removes, "
                "because Spark may repeat it. Allowed is none"
            )
        limits = {
            "maxMessagesPerTrigger": self.max_messages_per_trigger,
            "maxBytesPerTrigger": self.max_bytes_per_trigger,
            "minMessagesPerTrigger": self.min_messages_per_trigger,
            "maxTriggerDelay": self.max_trigger_delay != TRIGGER_SECONDS,
        }
        for name, limit in limits.items():
            if limit:
                raise ConfigError(f"option {name}: for streams only")

    def check_stream(self) -> None:
        """Refuse what only batch reads can do.

        Raises:
            ConfigError: names the option.
        """
        if self.ending_offsets != values.LATEST:
            raise ConfigError("option endingOffsets: a stream has no end; for batch reads only")
        if self.ending_timestamp is not None:
            raise ConfigError("option endingTimestamp: a stream has no end; for batch reads only")


def _queues(settings: Mapping[str, Any]) -> tuple[str, ...]:
    exclude(settings, "queue", "queues", "queuePattern")
    return (settings["queue"],) if "queue" in settings else tuple(settings.get("queues", ()))


def _where(settings: Mapping[str, Any]) -> Where:
    return Where(
        settings.get("where.label"),
        _message_class(settings["where.class"]) if "where.class" in settings else None,
        settings.get("where.correlationId"),
        settings.get("where.priorityMin"),
    )


def _message_class(text: str) -> int:
    names = {code.name: int(code) for code in MessageClass}
    number = names.get(text.strip().upper().removeprefix("MQMSG_CLASS_"))
    if number is not None:
        return number
    try:
        return int(text, 0)
    except ValueError:
        raise ConfigError(
            f"option where.class: {text!r} is neither a number nor one of {', '.join(names)}"
        ) from None


def _check_queues(options: ReadOptions, settings: Mapping[str, Any]) -> None:
    named = bool(options.queues or options.queue_pattern)
    if options.kind in DEADLETTERS:
        if named or options.subqueue:
            raise ConfigError(
                f"option queue: kind={options.kind} is one queue of the machine, without a name"
            )
    elif not named and options.kind != JOURNAL:
        raise ConfigError("option queue: one of queue, queues, queuePattern is needed")
    if options.subqueue is not None:
        if options.kind != QUEUE:
            raise ConfigError(f"option subqueue: not with kind={options.kind}, only with queue")
        if options.queue_pattern is not None:
            raise ConfigError("option subqueue: not together with queuePattern")
    if isinstance(options.starting_offsets, dict) and not named:
        raise ConfigError("option startingOffsets: JSON needs queues with names")
    if len(set(options.queues)) < len(options.queues):
        raise ConfigError(f"option queues: {settings.get('queues')} names a queue twice")


def _check_remote_read(options: ReadOptions) -> None:
    """Refuse what a server that is read over RPC cannot do."""
    if not options.connection.is_remote_read:
        return
    if options.consume != NONE:
        raise ConfigError(
            f"option consume: {options.consume} needs a queue manager of openmsmq as endpoint: "
            "over remote read a range cannot be kept from other readers, nor received in one step "
            "when its batch is committed. Allowed is none"
        )
    if options.queue_pattern is not None:
        raise ConfigError(
            "option queuePattern: queues cannot be listed over remote read; name them"
        )
    if options.kind == OUTGOING:
        raise ConfigError("option kind: outgoing queues cannot be read over remote read")


def _check_consume(options: ReadOptions, settings: Mapping[str, Any]) -> None:
    consume = options.consume
    if consume != NONE and options.kind == OUTGOING:
        raise ConfigError("option consume: outgoing queues can only be looked at; allowed is none")
    if consume == LEASE:
        _check_lease(options)
    elif options.consumer_name:
        raise ConfigError("option consumerName: for consume=lease only")
    if options.pin and consume == NONE:
        raise ConfigError("option pin: needs consume=exclusive or lease, whose reads end")
    if options.where and consume != NONE:
        _check_unmatched(options, settings)
    elif "unmatched" in settings:
        raise ConfigError("option unmatched: for where.* with consume=exclusive only")


def _check_unmatched(options: ReadOptions, settings: Mapping[str, Any]) -> None:
    """Refuse conditions where what does not match them would not stay as it is."""
    if options.consume == LEASE:
        raise ConfigError(
            "option where.*: not with consume=lease, which moves the next messages aside before "
            "anybody looks at them; allowed is exclusive with unmatched=leave, or none"
        )
    if "unmatched" not in settings:
        raise ConfigError(
            "option where.*: with consume=exclusive, say what becomes of messages that do not "
            "match: unmatched=leave leaves them in the queue"
        )
    if options.pin:
        raise ConfigError("option pin: not with where.*; what does not match must expire in time")


def _check_lease(options: ReadOptions) -> None:
    name = options.consumer_name
    if not name:
        raise ConfigError(
            "option consumerName: needed with consume=lease; it is the name of the query for ever"
        )
    if len(name) > MAX_CONSUMER_NAME or not all(
        character.isalnum() or character in "-_." for character in name
    ):
        raise ConfigError(
            f"option consumerName: {name!r} is not 1 to {MAX_CONSUMER_NAME} letters, digits, "
            "'-', '_' or '.'"
        )
    kinds = {options.kind, *map(_kind, options.queues)}
    if kinds != {QUEUE} or options.subqueue is not None:
        raise ConfigError(
            "option consume: lease needs queues that have subqueues; use exclusive or none here"
        )
    if options.starting_offsets != values.EARLIEST or options.starting_timestamp is not None:
        raise ConfigError(
            "option startingOffsets: consume=lease takes what is in the queue; allowed is earliest"
        )


def _kind(name: str) -> str:
    """The kind of queue that a name means; one that is not well formed fails when it is opened."""
    try:
        return kind_of(parse_queue_reference(name))
    except QueueError:
        return QUEUE
