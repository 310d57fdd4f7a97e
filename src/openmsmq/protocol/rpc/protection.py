"""Fragments of requests and responses, with the protection of their level; both roles.

[MS-RPCE] 3.3.1.5.2.2. Level connect protects nothing, packet signs as integrity does.
"""

from typing import Final

from openmsmq.security.mechanism import SecurityContext
from openmsmq.wire.rpc.call import CALL_HEADER_SIZE, pack_call
from openmsmq.wire.rpc.header import WHOLE, PfcFlags
from openmsmq.wire.rpc.sec_trailer import (
    SEC_TRAILER_SIZE,
    STUB_ALIGNMENT,
    SecTrailer,
    Verifier,
)
from openmsmq.wire.rpc.status import AuthnLevel

_FIRST: Final = int(PfcFlags.PFC_FIRST_FRAG)
_LAST: Final = int(PfcFlags.PFC_LAST_FRAG)


class Protection:
    """A complete security context, and its use on a connection.

    Attributes:
        context: the identity of the client, and the keys.
        level: the protection of calls.
        header_signing: whether both sides agreed to sign headers.
        signs: whether every request and response carries a signature.
        seals: whether stubs are encrypted.
        signature_size: the bytes of a signature at this level; 0 where nothing is signed.
    """

    __slots__ = (
        "_trailers",
        "context",
        "header_signing",
        "level",
        "seals",
        "signature_size",
        "signs",
    )

    def __init__(
        self,
        context: SecurityContext,
        auth_type: int,
        level: AuthnLevel,
        auth_context_id: int,
        header_signing: bool,  # noqa: FBT001 - as the others, once
    ) -> None:
        self.context = context
        self.level = level
        self.header_signing = header_signing
        self.signs = level >= AuthnLevel.PKT
        self.seals = level == AuthnLevel.PKT_PRIVACY
        self.signature_size = context.signature_size(seal=self.seals) if self.signs else 0
        # The trailer of a PDU, by the size of its padding.
        self._trailers = [
            SecTrailer(auth_type, level, auth_context_id, padding).serialize()
            for padding in range(STUB_ALIGNMENT)
        ]

    def trailer(self, padding: int) -> bytes:
        """The sec_trailer of a PDU with this padding."""
        return self._trailers[padding]


def fragments(
    ptype: int,
    stub: bytes,
    *,
    call_id: int,
    p_cont_id: int,
    opnum: int = 0,
    max_fragment: int,
    protection: Protection | None = None,
) -> list[bytes]:
    """The PDUs of a request or response.

    Raises:
        AuthenticationFailed: the peers did not agree on this protection.
    """
    if protection is not None and protection.signs:
        return _protected(ptype, stub, call_id, p_cont_id, opnum, max_fragment, protection)
    total = len(stub)
    room = max_fragment - CALL_HEADER_SIZE
    if total <= room:
        return [whole_pdu(ptype, stub, call_id, p_cont_id, opnum)]
    pdus = []
    flags = _FIRST
    for start in range(0, total, room):
        chunk = stub[start : start + room]
        rest = total - start
        header = pack_call(
            ptype,
            flags if rest > room else flags | _LAST,
            call_id,
            frag_length=CALL_HEADER_SIZE + len(chunk),
            auth_length=0,
            alloc_hint=rest,
            p_cont_id=p_cont_id,
            opnum=opnum,
        )
        pdus.append(header + chunk)
        flags = 0
    return pdus


def whole_pdu(ptype: int, stub: bytes, call_id: int, p_cont_id: int, opnum: int = 0) -> bytes:
    """A request or response that needs no fragments and no protection."""
    size = len(stub)
    return (
        pack_call(
            ptype,
            WHOLE,
            call_id,
            frag_length=CALL_HEADER_SIZE + size,
            auth_length=0,
            alloc_hint=size,
            p_cont_id=p_cont_id,
            opnum=opnum,
        )
        + stub
    )


def _protected(
    ptype: int,
    stub: bytes,
    call_id: int,
    p_cont_id: int,
    opnum: int,
    max_fragment: int,
    protection: Protection,
) -> list[bytes]:
    context = protection.context
    size = protection.signature_size
    room = max_fragment - CALL_HEADER_SIZE - SEC_TRAILER_SIZE - size
    room -= room % STUB_ALIGNMENT
    total = len(stub)
    pdus = []
    first = _FIRST
    start = 0
    while True:
        chunk = stub if total <= room else stub[start : start + room]
        rest = total - start
        start += len(chunk)
        padding = -len(chunk) % STUB_ALIGNMENT
        header = pack_call(
            ptype,
            first | _LAST if start == total else first,
            call_id,
            frag_length=CALL_HEADER_SIZE + len(chunk) + padding + SEC_TRAILER_SIZE + size,
            auth_length=size,
            alloc_hint=rest,
            p_cont_id=p_cont_id,
            opnum=opnum,
        )
        trailer = protection.trailer(padding)
        body, signature = context.wrap(
            header,
            chunk + bytes(padding) if padding else chunk,
            trailer,
            seal=protection.seals,
            header_signing=protection.header_signing,
        )
        pdus.append(b"".join((header, body, trailer, signature)))
        first = 0
        if start == total:
            return pdus


def open_fragment(pdu: bytes, stub_start: int, verifier: Verifier, protection: Protection) -> bytes:
    """The stub of a signed fragment, without padding.

    Raises:
        AuthenticationFailed: wrong signature, repeated or missing fragment.
    """
    offset = verifier.offset
    trailer_end = offset + SEC_TRAILER_SIZE
    body = protection.context.unwrap(
        pdu[:stub_start],
        pdu[stub_start:offset],
        pdu[offset:trailer_end],
        verifier.token,
        seal=protection.seals,
        header_signing=protection.header_signing,
    )
    padding = verifier.trailer.auth_pad_length
    return body[:-padding] if padding else body
