"""The message row: the columns of format `msmq` and their selection."""

from collections.abc import Collection
from typing import Final, NamedTuple, Protocol

import pyarrow as pa

TIMESTAMP: Final = pa.timestamp("us", tz="UTC")

HEADERS: Final = "headers"
BODY: Final = "body"
PACKET: Final = "packet"
SECURITY: Final = "security"
SOAP: Final = "soap"
INCLUDES: Final = (HEADERS, BODY, PACKET, SECURITY, SOAP)
# Belongs to no part: what tells one row from another is always there.
_ALWAYS: Final = ""

BODY_FORMATS: Final = ("binary", "text", "auto", "xml", "json")
BINARY: Final = "binary"


class Column(NamedTuple):
    """One column: its type, and the part of a message that it belongs to."""

    type: pa.DataType
    part: str


COLUMNS: Final[dict[str, Column]] = {
    "queue": Column(pa.string(), _ALWAYS),
    "queue_kind": Column(pa.string(), _ALWAYS),
    "lookup_id": Column(pa.int64(), _ALWAYS),
    "seq": Column(pa.int64(), _ALWAYS),
    "priority": Column(pa.int8(), HEADERS),
    "id": Column(pa.string(), HEADERS),
    "correlation_id": Column(pa.string(), HEADERS),
    "class": Column(pa.int32(), HEADERS),
    "class_name": Column(pa.string(), HEADERS),
    "label": Column(pa.string(), HEADERS),
    "app_specific": Column(pa.int64(), HEADERS),
    "extension": Column(pa.binary(), HEADERS),
    "body": Column(pa.binary(), BODY),
    "body_text": Column(pa.string(), BODY),
    "body_type": Column(pa.int64(), HEADERS),
    "body_size": Column(pa.int64(), HEADERS),
    "sent_time": Column(TIMESTAMP, HEADERS),
    "arrived_time": Column(TIMESTAMP, HEADERS),
    "time_to_reach_queue": Column(pa.int64(), HEADERS),
    "time_to_be_received": Column(pa.int64(), HEADERS),
    "destination_queue": Column(pa.string(), HEADERS),
    "response_queue": Column(pa.string(), HEADERS),
    "admin_queue": Column(pa.string(), HEADERS),
    "source_queue_manager": Column(pa.string(), HEADERS),
    "sender_id": Column(pa.string(), HEADERS),
    "sender_id_type": Column(pa.int32(), SECURITY),
    "delivery": Column(pa.string(), HEADERS),
    "acknowledge": Column(pa.int8(), HEADERS),
    "journal": Column(pa.int8(), HEADERS),
    "trace": Column(pa.int8(), HEADERS),
    "transactional": Column(pa.bool_(), HEADERS),
    "transaction_id": Column(pa.string(), HEADERS),
    "first_in_transaction": Column(pa.bool_(), HEADERS),
    "last_in_transaction": Column(pa.bool_(), HEADERS),
    "authenticated": Column(pa.bool_(), HEADERS),
    "authentication_level": Column(pa.string(), HEADERS),
    "sender_certificate": Column(pa.string(), HEADERS),
    "hash_algorithm": Column(pa.string(), HEADERS),
    "encrypted": Column(pa.bool_(), HEADERS),
    "privacy_level": Column(pa.int32(), HEADERS),
    "hash_alg": Column(pa.int32(), SECURITY),
    "abort_count": Column(pa.int32(), HEADERS),
    "move_count": Column(pa.int32(), HEADERS),
    "last_move_time": Column(TIMESTAMP, HEADERS),
    "transport": Column(pa.string(), HEADERS),
    "deliver_at": Column(TIMESTAMP, HEADERS),
    "soap_envelope": Column(pa.string(), SOAP),
    "compound_message": Column(pa.binary(), SOAP),
    "raw_packet": Column(pa.binary(), PACKET),
    "decode_error": Column(pa.string(), _ALWAYS),
}

# What a queue keeps beside the packet.
RECORD_COLUMNS: Final = (
    "lookup_id",
    "seq",
    "arrived_time",
    "abort_count",
    "move_count",
    "last_move_time",
    "deliver_at",
)


class PacketBlock(Protocol):
    """Consecutive packets, with their data in the queue.

    `lookup_ids` and `arrived_times` are empty where they are unknown, as in captured packets.
    """

    @property
    def blob(self) -> bytes | memoryview:
        """All packets."""

    @property
    def ends(self) -> Collection[int]:
        """Where each packet ends in the blob."""

    @property
    def lookup_ids(self) -> Collection[int]:
        """The lookup id of each."""

    @property
    def arrived_times(self) -> Collection[float]:
        """The time when each arrived in its queue, in seconds since 1970."""

    @property
    def counters(self) -> Collection[tuple[int, int, int, float]]:
        """Row, abort count, move count and time of the last move of those that have any."""


class Packets(NamedTuple):
    """A `PacketBlock` for packets that do not come from a queue."""

    blob: bytes | memoryview
    ends: Collection[int]
    lookup_ids: Collection[int] = ()
    arrived_times: Collection[float] = ()
    counters: Collection[tuple[int, int, int, float]] = ()


def message_schema(
    include: Collection[str] = (HEADERS, BODY), *, body_format: str = BINARY
) -> pa.Schema:
    """The columns for these parts of a message.

    Args:
        include: of `INCLUDES`.
        body_format: of `BODY_FORMATS`; any but "binary" gives `body_text` beside `body`.

    Raises:
        ValueError: an unknown part or format; the text names the known ones.
    """
    for part in include:
        if part not in INCLUDES:
            raise ValueError(f"include: {part!r} must be one of {', '.join(INCLUDES)}")
    check_body_format(body_format)
    parts = {_ALWAYS, *include}
    return pa.schema(
        (name, column.type)
        for name, column in COLUMNS.items()
        if column.part in parts and (name != "body_text" or body_format != BINARY)
    )


def check_body_format(body_format: str) -> None:
    """Raise a ValueError that names the known formats for any other format."""
    if body_format not in BODY_FORMATS:
        raise ValueError(f"bodyFormat: {body_format!r} must be one of {', '.join(BODY_FORMATS)}")


def check_schema(schema: pa.Schema, body_format: str) -> None:
    """Raise a ValueError that names the first column that a decoder cannot provide.

    The caller chooses names and types of a schema from `COLUMNS`, in any order.
    """
    check_body_format(body_format)
    for field in schema:
        column = COLUMNS.get(field.name)
        if column is None:
            raise ValueError(f"schema: there is no column {field.name!r} in a message")
        if field.type != column.type:
            raise ValueError(f"schema: column {field.name!r} is {column.type}, not {field.type}")
        if field.name == "body_text" and body_format == BINARY:
            raise ValueError("schema: column 'body_text' needs a bodyFormat other than binary")
    if len(set(schema.names)) < len(schema.names):
        raise ValueError(f"schema: a column is there twice in {', '.join(schema.names)}")
