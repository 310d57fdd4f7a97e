"""SecurityHeader as a tree."""

from collections.abc import Callable
from typing import Final

from openmsmq.wire.codes.algorithms import EncryptionAlgorithm, ProviderType
from openmsmq.wire.codes.message_enums import SenderIdType
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.scalars import GUID_SIZE
from openmsmq.wire.security.key_blobs import SimpleBlob
from openmsmq.wire.security.security_header import (
    SECURITY_HEADER,
    SENDER_ID_TYPE_MASK,
    ProviderInfo,
    security_layout,
)
from openmsmq.wire.security.sid import SID, WELL_KNOWN_SIDS

from .node import Node, Value
from .user_tables import SECURITY
from .values import code_name, show_guid

_ALGORITHM: Final = code_name(EncryptionAlgorithm)
_PROVIDER: Final = code_name(ProviderType)

_Shown = tuple[Value, str]


def read_security_header(root: Node, buf: memoryview, offset: int) -> int:
    """Append the SecurityHeader at `offset`; return where it ends."""
    node = root.add("SecurityHeader", offset, len(buf) - offset)
    SECURITY.read(node, buf, offset)
    flags, *sizes = SECURITY_HEADER.unpack_from(buf, offset)
    end = offset
    for count, (name, show) in enumerate(_ITEMS, 1):
        # Item by item, so that those before one that does not fit are shown.
        known = SECURITY_HEADER.pack(flags, *sizes[:count], *[0] * (len(sizes) - count))
        items, end = security_layout(_with(buf, offset, known), offset)
        item = items[count - 1]
        raw = bytes(buf[item])
        if raw:
            value, meaning = show(raw, flags & SENDER_ID_TYPE_MASK)
            node.add(name, item.start, len(raw), value, meaning)
    node.size = end - offset
    return end


def _with(buf: memoryview, offset: int, header: bytes) -> bytes:
    return b"".join((buf[:offset], header, buf[offset + len(header) :]))


def _sender(raw: bytes, sender_id_type: int) -> _Shown:
    if sender_id_type == SenderIdType.QM and len(raw) == GUID_SIZE:
        return show_guid(raw)[0], "queue manager"
    try:
        sid, _ = SID.parse(raw)
    except MalformedPacket as exc:
        return raw, f"not a SID: {exc}"
    return str(sid), WELL_KNOWN_SIDS.get(sid, "").replace("_", " ").lower()


def _encryption_key(raw: bytes, sender_id_type: int) -> _Shown:
    del sender_id_type
    try:
        blob, _ = SimpleBlob.parse(raw)
    except MalformedPacket as exc:
        return raw, f"not a SIMPLEBLOB: {exc}"
    algorithm = _ALGORITHM(blob.session_key_algorithm)
    return raw, f"SIMPLEBLOB, {algorithm} key under RSA of {8 * len(blob.encrypted_key)} bits"


def _opaque(meaning: str) -> Callable[[bytes, int], _Shown]:
    def show(raw: bytes, sender_id_type: int) -> _Shown:
        del sender_id_type
        return raw, meaning

    return show


def _provider(raw: bytes, sender_id_type: int) -> _Shown:
    del sender_id_type
    provider = ProviderInfo.parse(raw)
    return (
        provider.provider_name,
        f"type {provider.provider_type}, {_PROVIDER(provider.provider_type)}",
    )


# SecurityData, in the order of its sizes.
_ITEMS: Final[tuple[tuple[str, Callable[[bytes, int], _Shown]], ...]] = (
    ("SecurityID", _sender),
    ("EncryptionKey", _encryption_key),
    ("Signature", _opaque("of the sender")),
    ("SenderCert", _opaque("X.509 certificate")),
    ("ProviderInfo", _provider),
)
