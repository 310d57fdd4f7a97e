"""The columns from packets, each built for all rows at once."""

from base64 import b64encode
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from openmsmq.client.received_message import AUTHENTICATION_LEVELS, HASH_NAMES
from openmsmq.spark.columns import TIMESTAMP
from openmsmq.wire.codes.message_class import class_name
from openmsmq.wire.codes.message_enums import Journal, SenderIdType
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.message.transaction_header import (
    TRANSACTION_ID_MASK,
    TRANSACTION_ID_SHIFT,
    TransactionHeaderFlags,
)
from openmsmq.wire.message.user_header import DELIVERY_MODE_MASK, UserHeaderFlags
from openmsmq.wire.packets.base_header import INFINITE, BaseHeaderFlags
from openmsmq.wire.security.security_header import (
    AUTHENTICATION_MASK,
    AUTHENTICATION_SHIFT,
    SECURITY_HEADER_SIZE,
    SENDER_ID_TYPE_MASK,
)
from openmsmq.wire.security.sid import SID

from .address_texts import admin_texts, destination_texts, response_texts
from .blob import Numbers, Offsets
from .packet_layout import PacketLayout, is_set
from .texts import TextColumn, guid_texts, identifier_texts, in_rows, pick, wide_texts

_ACKNOWLEDGMENTS: Final = 0x0F
_TR: Final = int(BaseHeaderFlags.TR)
_FM: Final = int(TransactionHeaderFlags.FM)
_LM: Final = int(TransactionHeaderFlags.LM)
_DELIVERIES: Final = ["express", "recoverable"]

Maker = Callable[[PacketLayout], pa.Array]


def _class_names(layout: PacketLayout) -> pa.StringArray:
    classes, codes = np.unique(layout.properties_header["message_class"], return_inverse=True)
    return pick([class_name(number) for number in classes.tolist()], codes)


def _deliveries(layout: PacketLayout) -> pa.StringArray:
    return pick([*_DELIVERIES], is_set(layout.flags, DELIVERY_MODE_MASK).astype(np.int8))


def _journals(layout: PacketLayout) -> pa.Array:
    journal = np.where(layout.has(UserHeaderFlags.JP), int(Journal.JOURNAL), 0)
    dead = np.where(layout.has(UserHeaderFlags.JN), int(Journal.DEADLETTER), 0)
    return pa.array(journal | dead, pa.int8())


def _correlations(layout: PacketLayout) -> pa.StringArray:
    header = layout.properties_header
    guids, ordinals = header["correlation_source"], header["correlation_ordinal"]
    halves = np.ascontiguousarray(guids).view(np.uint64).reshape(-1, 2)
    rows = np.flatnonzero((halves[:, 0] != 0) | (halves[:, 1] != 0) | (ordinals != 0))
    return in_rows([(rows, identifier_texts(guids[rows], ordinals[rows]))], len(layout))


def _transactions(layout: PacketLayout) -> pa.StringArray:
    rows = np.flatnonzero(layout.transactional)
    tags = (layout.transaction_flags[rows] & TRANSACTION_ID_MASK) >> TRANSACTION_ID_SHIFT
    guids = layout.head["source_queue_manager"][rows]
    return in_rows([(rows, identifier_texts(guids, tags))], len(layout))


def _senders(layout: PacketLayout) -> pa.StringArray:
    header = layout.security_header
    rows = np.flatnonzero(
        (header["flags"] & SENDER_ID_TYPE_MASK == int(SenderIdType.SID))
        & (header["security_id_size"] > 0)
    )
    starts = layout.security[rows] + SECURITY_HEADER_SIZE
    column = TextColumn(len(layout))
    ends = starts + header["security_id_size"][rows]
    column.add(rows, layout.blob.slices(starts, ends), _sid_text)
    return column.finish()


@lru_cache(maxsize=4096)
def _sid_text(raw: bytes) -> str:
    try:
        return str(SID.parse(raw)[0])
    except MsmqError:
        return raw.hex()


def _levels(layout: PacketLayout) -> pa.StringArray:
    levels = (layout.security_header["flags"] & AUTHENTICATION_MASK) >> AUTHENTICATION_SHIFT
    names = [AUTHENTICATION_LEVELS.get(level, str(level)) for level in range(16)]
    return pa.array(names).take(pa.array(levels))


def _certificates(layout: PacketLayout) -> pa.StringArray:
    """The certificates in base 64; null in messages without one."""
    header = layout.security_header
    rows = _certified(layout)
    starts = layout.security[rows] + SECURITY_HEADER_SIZE
    for size in ("security_id_size", "encryption_key_size", "signature_size"):
        starts = starts + (header[size][rows].astype(np.int64) + 3 & ~3)
    column = TextColumn(len(layout))
    ends = starts + header["sender_cert_size"][rows]
    column.add(rows, layout.blob.slices(starts, ends), _base64)
    return column.finish()


def _hashes(layout: PacketLayout) -> pa.StringArray:
    """The hash algorithms of signatures; null in messages without a certificate."""
    algorithms = layout.properties_header["hash_algorithm"]
    names: list[str | None] = [None] * len(layout)
    for row in _certified(layout):
        algorithm = int(algorithms[row])
        names[row] = HASH_NAMES.get(algorithm, f"0x{algorithm:04X}")
    return pa.array(names, pa.string())


def _certified(layout: PacketLayout) -> Offsets:
    return np.flatnonzero(layout.security_header["sender_cert_size"] > 0)


def _base64(raw: bytes) -> str:
    return b64encode(raw).decode("ascii")


def transports(layout: PacketLayout, machine: bytes) -> pa.StringArray:
    """How messages came that SRMP did not bring; null if this queue manager's GUID is unknown."""
    if not machine:
        return pa.nulls(len(layout), pa.string())
    here = layout.head["source_queue_manager"] == np.void(machine)
    return pa.array(np.where(here, "local", "binary"), pa.string())


def _finite(seconds: Numbers) -> pa.Array:
    """Times; null where they never end."""
    return pa.array(seconds.astype(np.int64), mask=seconds == INFINITE)


def _signed_32(numbers: Numbers) -> pa.Array:
    return pa.array(numbers.astype(np.int32))


# What a column needs beyond the header fields is made when it is asked for, and not before.
PACKET_COLUMNS: Final[dict[str, Maker]] = {
    "priority": lambda layout: pa.array(layout.priority.astype(np.int8)),
    "id": lambda layout: identifier_texts(
        layout.head["source_queue_manager"], layout.head["message_id"]
    ),
    "correlation_id": _correlations,
    "class": lambda layout: pa.array(layout.properties_header["message_class"].astype(np.int32)),
    "class_name": _class_names,
    "label": lambda layout: wide_texts(layout.blob.slices(layout.label, layout.extension)),
    "app_specific": lambda layout: pa.array(
        layout.properties_header["application_tag"].astype(np.int64)
    ),
    "extension": lambda layout: layout.blob.slices(layout.extension, layout.body),
    "body": lambda layout: layout.blob.slices(layout.body, layout.body_end),
    "body_type": lambda layout: pa.array(layout.properties_header["body_type"].astype(np.int64)),
    "body_size": lambda layout: pa.array(layout.body_end - layout.body),
    "sent_time": lambda layout: pa.array(
        layout.head["sent_time"].astype(np.int64) * 1_000_000, TIMESTAMP
    ),
    "time_to_reach_queue": lambda layout: _finite(layout.head["time_to_reach_queue"]),
    "time_to_be_received": lambda layout: _finite(layout.head["time_to_be_received"]),
    "destination_queue": destination_texts,
    "response_queue": response_texts,
    "admin_queue": admin_texts,
    "source_queue_manager": lambda layout: guid_texts(layout.head["source_queue_manager"]),
    "sender_id": _senders,
    "sender_id_type": lambda layout: pa.array(
        (layout.security_header["flags"] & SENDER_ID_TYPE_MASK).astype(np.int32)
    ),
    "delivery": _deliveries,
    "acknowledge": lambda layout: pa.array(
        (layout.properties_header["flags"] & _ACKNOWLEDGMENTS).astype(np.int8)
    ),
    "journal": _journals,
    "trace": lambda layout: pa.array(is_set(layout.base_flags, _TR).astype(np.int8)),
    "transactional": lambda layout: pa.array(layout.transactional),
    "transaction_id": _transactions,
    "first_in_transaction": lambda layout: pa.array(is_set(layout.transaction_flags, _FM)),
    "last_in_transaction": lambda layout: pa.array(is_set(layout.transaction_flags, _LM)),
    "authenticated": lambda layout: pa.array(
        is_set(layout.security_header["flags"], AUTHENTICATION_MASK)
    ),
    "authentication_level": _levels,
    "sender_certificate": _certificates,
    "hash_algorithm": _hashes,
    "encrypted": lambda layout: pa.array(layout.encrypted | layout.private_body),
    "privacy_level": lambda layout: _signed_32(layout.properties_header["privacy_level"]),
    "hash_alg": lambda layout: _signed_32(layout.properties_header["hash_algorithm"]),
    # Only the other decoder reads packets that came by SRMP.
    "soap_envelope": lambda layout: pa.nulls(len(layout), pa.string()),
    "compound_message": lambda layout: pa.nulls(len(layout), pa.binary()),
    "raw_packet": lambda layout: layout.blob.slices(layout.starts, layout.ends),
}
