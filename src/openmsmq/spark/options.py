"""Options of the data source, one frozen record for reading and one for writing.

Names are compared without case. A name that is not known, a value that is not allowed and options
that exclude each other raise `ConfigError`, which names the option and what is allowed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from openmsmq.wire.errors import ConfigError
from openmsmq.wire.message_class import MessageClass

from . import option_values as values
from .columns import BODY_FORMATS, INCLUDES

NONE: Final = "none"
EXCLUSIVE: Final = "exclusive"
LEASE: Final = "lease"
QUEUE: Final = "queue"
JOURNAL: Final = "journal"
OUTGOING: Final = "outgoing"
# There is one of each on a machine, so they need no name.
DEADLETTERS: Final = ("deadletter", "xact_deadletter")
KINDS: Final = (QUEUE, JOURNAL, *DEADLETTERS, OUTGOING)
# What is left of ";spark-<name>", the name of the subqueue of a lease.
MAX_CONSUMER_NAME: Final = 26
CONNECT_SECONDS: Final = 10.0
TRIGGER_SECONDS: Final = 900.0
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
)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


_CONNECTION: Final[dict[str, values.Reader[Any]]] = {
    "endpoint": values.text,
    "auth.token": values.text,
    "auth.tokenFile": values.text,
    "auth.caFile": values.text,
    "connectTimeout": values.duration,
}
_READ: Final[dict[str, values.Reader[Any]]] = {
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
_WRITE: Final[dict[str, values.Reader[Any]]] = {
    "queue": values.text,
    "transaction": values.choice("batch", "partition", NONE),
    **{f"{_camel(name)}Column": values.text for name in WRITABLE},
    "ignoreUnknownColumns": values.boolean,
    "onError": values.choice("fail", "deadletter", "skip"),
    "deadLetterQueue": values.text,
    "idempotencyKey": values.text,
    "purge": values.boolean,
    "transactional": values.boolean,
    "bodyEncoding": values.choice("utf-16", "utf-8"),
}
# Spark hands its own options on to the data source.
_OF_SPARK: Final = frozenset({"checkpointlocation"})
_CREDENTIALS: Final = "auth."


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """How to reach the queue manager.

    Attributes:
        endpoint: a socket path or `host:port`; None for the local default.
        token: says who the user is over TCP; never shown.
        token_file: where each machine finds the token instead.
        ca_file: certificates to trust over TCP instead of the system's.
        timeout: seconds to wait for a queue manager that does not answer.
    """

    endpoint: str | None = None
    token: str | None = field(default=None, repr=False)
    token_file: str | None = None
    ca_file: str | None = None
    timeout: float = CONNECT_SECONDS

    @classmethod
    def from_values(cls, found: Mapping[str, Any]) -> Self:
        """The part of the options that is about the connection."""
        endpoint = found.get("endpoint")
        if endpoint is not None and ("://" in endpoint or "=" in endpoint):
            raise ConfigError(
                f"option endpoint: {endpoint!r} is not a queue manager of openmsmq; it is the path "
                "of a socket or host:port. Reading other MSMQ servers remotely is not there yet"
            )
        if "auth.token" in found and "auth.tokenFile" in found:
            raise ConfigError("option auth.token: not together with auth.tokenFile")
        return cls(
            endpoint,
            found.get("auth.token"),
            found.get("auth.tokenFile"),
            found.get("auth.caFile"),
            found.get("connectTimeout", CONNECT_SECONDS),
        )


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
        found = read_values(options, _CONNECTION | _READ)
        taken = {"queue", "queues", *_CONNECTION, "unmatched"}
        fields = {
            _snake(name): value
            for name, value in found.items()
            if name not in taken and not name.startswith("where.")
        }
        parsed = cls(
            ConnectionOptions.from_values(found), _queues(found), where=_where(found), **fields
        )
        _check_queues(parsed, found)
        _check_consume(parsed, found)
        _exclude(found, "startingOffsets", "startingTimestamp")
        _exclude(found, "endingOffsets", "endingTimestamp")
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
        if self.max_messages_per_trigger or self.max_bytes_per_trigger:
            raise ConfigError("option maxMessagesPerTrigger, maxBytesPerTrigger: for streams only")

    def check_stream(self) -> None:
        """Refuse what only batch reads can do.

        Raises:
            ConfigError: names the option.
        """
        if self.ending_offsets != values.LATEST:
            raise ConfigError("option endingOffsets: a stream has no end; for batch reads only")
        if self.ending_timestamp is not None:
            raise ConfigError("option endingTimestamp: a stream has no end; for batch reads only")


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How to write; the names are those of the options.

    Attributes:
        queue: where every row goes that names no queue itself.
        columns: property of a message -> column that holds it, where the names differ.
        transactional: what messages for another machine are; a local queue says so itself.
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
        found = read_values(options, _CONNECTION | _WRITE)
        columns = {
            name: found[f"{_camel(name)}Column"]
            for name in WRITABLE
            if f"{_camel(name)}Column" in found
        }
        fields = {
            _snake(name): value
            for name, value in found.items()
            if name not in _CONNECTION and not name.endswith("Column")
        }
        parsed = cls(ConnectionOptions.from_values(found), columns=columns, **fields)
        if parsed.on_error == "deadletter" and parsed.dead_letter_queue is None:
            raise ConfigError("option deadLetterQueue: needed with onError=deadletter")
        return parsed


def check_options(options: Mapping[str, str]) -> None:
    """What can be said before it is known whether somebody reads or writes.

    Raises:
        ConfigError: names the option and what is allowed.
    """
    read_values(options, _CONNECTION | _READ | _WRITE)
    given = {name.lower() for name in options}
    for_reading = given & {name.lower() for name in _READ.keys() - _WRITE.keys()}
    for_writing = given & {name.lower() for name in _WRITE.keys() - _READ.keys()}
    if for_reading and for_writing:
        raise ConfigError(
            f"options {', '.join(sorted(for_reading))} are for reading, "
            f"{', '.join(sorted(for_writing))} for writing"
        )
    if for_reading:
        ReadOptions.parse(options)
    if for_writing:
        WriteOptions.parse(options)


def read_values(
    options: Mapping[str, str], known: Mapping[str, values.Reader[Any]]
) -> dict[str, Any]:
    """The values of these options by their names as documented.

    Raises:
        ConfigError: an unknown name, or a value that is not allowed.
    """
    by_key = {name.lower(): (name, read) for name, read in known.items()}
    found: dict[str, Any] = {}
    for given, value in options.items():
        key = given.lower()
        if key in _OF_SPARK:
            continue
        if key not in by_key:
            raise ConfigError(f"option {given}: unknown; the options are {', '.join(known)}")
        name, read = by_key[key]
        try:
            found[name] = read(value)
        except values.NotAllowed as exc:
            # What was given as a credential is not repeated, not even when it is wrong.
            reason = "cannot be used" if name.startswith(_CREDENTIALS) else str(exc)
            raise ConfigError(f"option {name}: {reason}") from None
    return found


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _exclude(found: Mapping[str, Any], *names: str) -> None:
    given = [name for name in dict.fromkeys(names) if name in found]
    if len(given) > 1:
        raise ConfigError(f"option {given[0]}: not together with {', '.join(given[1:])}")


def _queues(found: Mapping[str, Any]) -> tuple[str, ...]:
    _exclude(found, "queue", "queues", "queuePattern")
    return (found["queue"],) if "queue" in found else tuple(found.get("queues", ()))


def _where(found: Mapping[str, Any]) -> Where:
    return Where(
        found.get("where.label"),
        _message_class(found["where.class"]) if "where.class" in found else None,
        found.get("where.correlationId"),
        found.get("where.priorityMin"),
    )


def _message_class(given: str) -> int:
    names = {each.name: int(each) for each in MessageClass}
    number = names.get(given.strip().upper().removeprefix("MQMSG_CLASS_"))
    if number is not None:
        return number
    try:
        return int(given, 0)
    except ValueError:
        raise ConfigError(
            f"option where.class: {given!r} is neither a number nor one of {', '.join(names)}"
        ) from None


def _check_queues(options: ReadOptions, found: Mapping[str, Any]) -> None:
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
        raise ConfigError(f"option queues: {found.get('queues')} names a queue twice")


def _check_consume(options: ReadOptions, found: Mapping[str, Any]) -> None:
    consume = options.consume
    if consume != NONE and options.kind == OUTGOING:
        raise ConfigError("option consume: outgoing queues can only be looked at; allowed is none")
    if consume == LEASE:
        _check_lease(options)
    elif options.consumer_name:
        raise ConfigError("option consumerName: for consume=lease only")
    if options.where and consume != NONE:
        raise ConfigError(
            f"option where.*: not with consume={consume}, which would remove what does not match; "
            "allowed is consume=none"
        )
    if "unmatched" in found:
        raise ConfigError(
            "option unmatched: removing only what matches is not there yet; read everything and "
            "filter the rows, or read with consume=none"
        )
    if options.pin and consume == NONE:
        raise ConfigError("option pin: needs consume=exclusive or lease, whose reads end")


def _check_lease(options: ReadOptions) -> None:
    name = options.consumer_name
    if not name:
        raise ConfigError(
            "option consumerName: needed with consume=lease; it is the name of the query for ever"
        )
    if len(name) > MAX_CONSUMER_NAME or not all(each.isalnum() or each in "-_." for each in name):
        raise ConfigError(
            f"option consumerName: {name!r} is not 1 to {MAX_CONSUMER_NAME} letters, digits, "
            "'-', '_' or '.'"
        )
    if options.kind != QUEUE or options.subqueue is not None:
        raise ConfigError(
            "option consume: lease needs queues that have subqueues; use exclusive or none here"
        )
    if options.starting_offsets != values.EARLIEST or options.starting_timestamp is not None:
        raise ConfigError(
            "option startingOffsets: consume=lease takes what is in the queue; allowed is earliest"
        )
