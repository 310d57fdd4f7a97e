"""The layout of many packets at once ([MS-MQMQ] 2.2.19, 2.2.20).

The same rules as `UserMessage`, a step for all packets at a time. A packet that breaks a rule, or
that only `UserMessage` knows how to read, is not plain; nothing is said about it.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.message_properties_header import (
    MAX_LABEL_LENGTH,
    MESSAGE_PROPERTIES_SIZE,
)
from openmsmq.wire.message.trailing_headers import OPTIONAL_AFTER_BODY, trailing_layout
from openmsmq.wire.message.transaction_header import TRANSACTION_HEADER_SIZE, TransactionHeaderFlags
from openmsmq.wire.message.user_header import (
    ADMIN_SHIFT,
    DEFINED_TYPES,
    DESTINATION_SHIFT,
    PRIVATE_BODY,
    RESPONSE_SHIFT,
    USER_HEADER_SIZE,
    UserHeaderFlags,
)
from openmsmq.wire.names.queue_address import QueueAddressType
from openmsmq.wire.packets.base_header import (
    BASE_HEADER_SIZE,
    PRIORITY_MASK,
    SIGNATURE,
    VERSION_NUMBER,
    BaseHeaderFlags,
)
from openmsmq.wire.scalars import GUID_SIZE
from openmsmq.wire.security.security_header import SECURITY_HEADER_SIZE, SecurityHeaderFlags

from .blob import Blob, Mask, Numbers, Offsets, Records

Kind = np.dtype[Any]
# BaseHeader and UserHeader up to the addresses.
HEAD: Final[Kind] = np.dtype(
    [
        ("version", "u1"),
        ("reserved", "u1"),
        ("base_flags", "<u2"),
        ("signature", "<u4"),
        ("packet_size", "<u4"),
        ("time_to_reach_queue", "<u4"),
        ("source_queue_manager", "V16"),
        ("queue_manager_address", "V16"),
        ("time_to_be_received", "<u4"),
        ("sent_time", "<u4"),
        ("message_id", "<u4"),
        ("flags", "<u4"),
    ]
)
PROPERTIES: Final[Kind] = np.dtype(
    [
        ("flags", "u1"),
        ("label_length", "u1"),
        ("message_class", "<u2"),
        ("correlation_source", "V16"),
        ("correlation_ordinal", "<u4"),
        ("body_type", "<u4"),
        ("application_tag", "<u4"),
        ("message_size", "<u4"),
        ("allocation_body_size", "<u4"),
        ("privacy_level", "<u4"),
        ("hash_algorithm", "<u4"),
        ("encryption_algorithm", "<u4"),
        ("extension_size", "<u4"),
    ]
)
SECURITY: Final[Kind] = np.dtype(
    [
        ("flags", "<u2"),
        ("security_id_size", "<u2"),
        ("encryption_key_size", "<u2"),
        ("signature_size", "<u2"),
        ("sender_cert_size", "<u4"),
        ("provider_info_size", "<u4"),
    ]
)
U16: Final[Kind] = np.dtype("<u2")
U32: Final[Kind] = np.dtype("<u4")

_MIN_SIZE: Final = BASE_HEADER_SIZE + USER_HEADER_SIZE + MESSAGE_PROPERTIES_SIZE
_ADDRESS_SIZES: Final = np.array([0, 0, 4, 4, 4, 16, 20, 0], np.int64)
COUNT_SIZE: Final = 2
# By DQ and AQ together: whether both are defined.
_DEFINED: Final = np.array(
    [types << DESTINATION_SHIFT in DEFINED_TYPES for types in range(64)], np.bool_
)
_MAX_SENDER_CERT_SIZE: Final = 0xFFFF
_PROVIDER_TYPE_SIZE: Final = 4
_DIRECT: Final = int(QueueAddressType.DIRECT)
_CG: Final = int(TransactionHeaderFlags.CG)
_DH: Final = int(BaseHeaderFlags.DH)
_EB: Final = int(SecurityHeaderFlags.EB)


class Addresses(NamedTuple):
    """Queue addresses of one kind, one of each packet.

    Attributes:
        types: DQ, AQ or RQ.
        at: where they are in the blob.
        counts: how many bytes the name of a direct one has.
    """

    types: Numbers
    at: Offsets
    counts: Numbers


class PacketLayout:
    """The headers of packets, and where their parts of variable size are in the blob.

    Only what is said about a plain packet counts: the numbers of others are of no use.

    Attributes:
        plain: whether all is said about this packet.
        transaction, security, properties: where these headers are.
        label, extension, body, body_end: where these are.
    """

    def __init__(self, blob: Blob, starts: Offsets, ends: Offsets) -> None:
        self.blob = blob
        self.starts = starts
        self.ends = ends
        self.head: Records = blob.records(HEAD, starts)
        self.flags: Numbers = self.head["flags"]
        self.base_flags: Numbers = self.head["base_flags"]
        self.plain: Mask = (
            (ends - starts >= _MIN_SIZE)
            & (self.head["version"] == VERSION_NUMBER)
            & (self.head["signature"] == SIGNATURE)
            & (self.head["packet_size"] == ends - starts)
            & (self.base_flags & int(BaseHeaderFlags.IN) == 0)
            & (self.flags & int(UserHeaderFlags.MP) != 0)
            & _DEFINED[self.flags >> DESTINATION_SHIFT & 63]
        )
        self._locate_addresses()
        self._locate_before_body()
        self._locate_properties()
        self._locate_body_end()
        self._check_trailing_headers()

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def priority(self) -> Numbers:
        # [MS-MQDMPR] 3.1.7.1.32: the priority of a transactional message is 0 and not looked at.
        return np.where(self.transactional, np.uint16(0), self.base_flags & PRIORITY_MASK)

    @property
    def transactional(self) -> Mask:
        return self.has(UserHeaderFlags.TH)

    @property
    def encrypted(self) -> Mask:
        """Whether the body in the packet is cipher text."""
        return is_set(self.security_header["flags"], _EB)

    @property
    def private_body(self) -> Mask:
        """Whether the body is clear and travelled encrypted."""
        return is_set(self.flags, PRIVATE_BODY)

    def has(self, flag: UserHeaderFlags) -> Mask:
        """Whether this bit of UserHeader.Flags is set."""
        return is_set(self.flags, flag)

    def _locate_addresses(self) -> None:
        end = self.starts + (BASE_HEADER_SIZE + USER_HEADER_SIZE)
        self.destination, end = self._addresses(DESTINATION_SHIFT, end)
        self.admin, end = self._addresses(ADMIN_SHIFT, end)
        self.response, end = self._addresses(RESPONSE_SHIFT, end)
        self._addresses_end = end

    def _addresses(self, shift: int, at: Offsets) -> tuple[Addresses, Offsets]:
        """The addresses at these places, and where they end, with padding."""
        types = self.flags >> shift & 7
        if not types.any():
            return Addresses(types, at, types), at
        ends = at + _ADDRESS_SIZES[types]
        direct = types == _DIRECT
        counts = types
        if direct.any():
            counts = np.where(direct, self.blob.records(U16, at), 2).astype(np.int64)
            self.plain &= (counts & 1 == 0) & (counts > 0)
            ends += np.where(direct, counts + COUNT_SIZE, 0)
            ends += self.starts - ends & 3
        return Addresses(types, at, counts), ends

    def _locate_before_body(self) -> None:
        self.transaction = end = self._addresses_end + GUID_SIZE * self.has(UserHeaderFlags.CQ)
        self.transaction_flags: Numbers = np.zeros(len(self), np.uint32)
        transactional = self.transactional
        if transactional.any():
            flags = self.blob.records(U32, end)
            self.transaction_flags = np.where(transactional, flags, 0)
            size = TRANSACTION_HEADER_SIZE + GUID_SIZE * (flags & _CG)
            end = end + np.where(transactional, size, 0)
        self.security = end
        self.security_header: Records = np.zeros(len(self), SECURITY)
        secured = self.has(UserHeaderFlags.SH)
        if secured.any():
            self.security_header[secured] = self.blob.records(SECURITY, end)[secured]
            end = end + np.where(secured, self._security_sizes(), 0)
        self.properties: Offsets = end

    def _security_sizes(self) -> Offsets:
        """How large the SecurityHeaders are, all items padded."""
        header = self.security_header
        provider = header["provider_info_size"]
        self.plain &= header["sender_cert_size"] <= _MAX_SENDER_CERT_SIZE
        self.plain &= (provider == 0) | ((provider >= _PROVIDER_TYPE_SIZE) & (provider & 1 == 0))
        size = np.full(len(self), SECURITY_HEADER_SIZE, np.int64)
        for item in SECURITY.names[1:] if SECURITY.names else ():
            size += header[item].astype(np.int64) + 3 & ~3
        return size

    def _locate_properties(self) -> None:
        at = self.properties
        self.properties_header: Records = self.blob.records(PROPERTIES, at)
        header = self.properties_header
        self.label: Offsets = at + MESSAGE_PROPERTIES_SIZE
        self.extension: Offsets = self.label + 2 * header["label_length"].astype(np.int64)
        self.body: Offsets = self.extension + header["extension_size"]
        self.body_end: Offsets = self.body + header["message_size"]
        # No part begins before the one that it follows: if the last one fits, all do.
        self.plain &= (header["label_length"] <= MAX_LABEL_LENGTH) & (self.body_end <= self.ends)

    def _locate_body_end(self) -> None:
        """Take the greater of the two sizes of an encrypted body, where it fits."""
        header = self.properties_header
        larger = header["allocation_body_size"] > header["message_size"]
        if not larger.any():
            return
        greater_end = self.body + header["allocation_body_size"]
        # Which of the two sizes holds depends on whether headers follow there: see `UserMessage`.
        self.plain &= ~(larger & self._trailing)
        fits = larger & (greater_end <= self.ends) & self.encrypted
        self.body_end = np.where(fits, greater_end, self.body_end)

    @property
    def _trailing(self) -> Mask:
        """Whether headers follow the body."""
        return is_set(self.flags, OPTIONAL_AFTER_BODY) | is_set(self.base_flags, _DH)

    def _check_trailing_headers(self) -> None:
        """Check the headers after the bodies; those that many messages share are read once."""
        trailing = self._trailing
        if not trailing.any():
            return
        # A message from HTTP may have its body in one of these headers.
        self.plain &= ~self.has(UserHeaderFlags.AH)
        rows = np.flatnonzero(trailing & self.plain)
        starts, ends = self.starts[rows], self.ends[rows]
        at = np.minimum(starts + (self.body_end[rows] - starts + 3 & ~3), ends)
        encoded = self.blob.slices(at, ends).dictionary_encode()
        codes = encoded.indices.to_numpy().astype(np.int64)
        announced = self.flags[rows] & OPTIONAL_AFTER_BODY | self.base_flags[rows] & _DH
        kinds, numbers = np.unique(announced.astype(np.int64) << 32 | codes, return_inverse=True)
        readable = [
            _is_readable(encoded.dictionary[kind & 0xFFFFFFFF].as_py(), kind >> 32)
            for kind in kinds.tolist()
        ]
        self.plain[rows] = np.array(readable, np.bool_)[numbers]


def is_set(flags: Numbers, bits: int) -> Mask:
    """Whether any of these bits is set."""
    mask: Mask = flags & int(bits) != 0
    return mask


def _is_readable(headers: bytes, announced: int) -> bool:
    """Whether these are the headers that the flags announce; DH and those of the UserHeader."""
    try:
        # No two of the flags of both headers that matter here have the same bit.
        trailing_layout(headers, 0, announced & _DH, announced & OPTIONAL_AFTER_BODY)
    except MalformedPacket:
        return False
    return True
