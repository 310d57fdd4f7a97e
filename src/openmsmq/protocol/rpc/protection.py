"""Fragments of requests and responses, with the protection of their level; both roles.

[MS-RPCE] 3.3.1.5.2.2. Level connect protects nothing, packet signs as integrity does.
"""

from typing import Final, NamedTuple

from openmsmq.security.mechanism import SecurityContext
from openmsmq.wire.rpc.call import CALL_HEADER_SIZE, pack_call
from openmsmq.wire.rpc.header import PfcFlags
from openmsmq.wire.rpc.sec_trailer import (
    SEC_TRAILER_SIZE,
    STUB_ALIGNMENT,
    SecTrailer,
    Verifier,
)
from openmsmq.wire.rpc.status import AuthnLevel

_FIRST: Final = int(PfcFlags.PFC_FIRST_FRAG)
_LAST: Final = int(PfcFlags.PFC_LAST_FRAG)


class Protection(NamedTuple):
    """A complete security context, and how a connection uses it."""

    context: SecurityContext
    auth_type: int
    level: AuthnLevel
    auth_context_id: int
    header_signing: bool

    @property
    def signs(self) -> bool:
        """Whether every request and response carries a signature."""
        return self.level >= AuthnLevel.PKT


def fragments(
    ptype: int,
    stub: bytes,
    *,
    call_id: int,
    p_cont_id: int,
    opnum: int = 0,
    max_fragment: int,
    flags: int = 0,
    protection: Protection | None = None,
) -> list[bytes]:
    """The PDUs of a request or response.

    Raises:
        AuthenticationFailed: the peers did not agree on this protection.
    """
    total = len(stub)
    if protection is not None and protection.signs:
        return _protected(ptype, stub, call_id, p_cont_id, opnum, max_fragment, flags, protection)
    room = max_fragment - CALL_HEADER_SIZE
    pdus = []
    first = _FIRST
    start = 0
    while True:
        chunk = stub[start : start + room] if total > room else stub
        rest = total - start
        start += len(chunk)
        header = pack_call(
            ptype,
            flags | first | (_LAST if start == total else 0),
            call_id,
            frag_length=CALL_HEADER_SIZE + len(chunk),
            auth_length=0,
            alloc_hint=rest,
            p_cont_id=p_cont_id,
            opnum=opnum,
        )
        pdus.append(header + chunk)
        first = 0
        if start == total:
            return pdus


def _protected(
    ptype: int,
    stub: bytes,
    call_id: int,
    p_cont_id: int,
    opnum: int,
    max_fragment: int,
    flags: int,
    protection: Protection,
) -> list[bytes]:
    context = protection.context
    size = context.signature_size
    room = max_fragment - CALL_HEADER_SIZE - SEC_TRAILER_SIZE - size
    room -= room % STUB_ALIGNMENT
    total = len(stub)
    pdus = []
    first = _FIRST
    start = 0
    while True:
        chunk = stub[start : start + room]
        rest = total - start
        start += len(chunk)
        padding = -len(chunk) % STUB_ALIGNMENT
        header = pack_call(
            ptype,
            flags | first | (_LAST if start == total else 0),
            call_id,
            frag_length=CALL_HEADER_SIZE + len(chunk) + padding + SEC_TRAILER_SIZE + size,
            auth_length=size,
            alloc_hint=rest,
            p_cont_id=p_cont_id,
            opnum=opnum,
        )
        trailer = SecTrailer(
            protection.auth_type, protection.level, protection.auth_context_id, padding
        ).serialize()
        body, signature = context.wrap(
            header,
            chunk + bytes(padding),
            trailer,
            seal=protection.level == AuthnLevel.PKT_PRIVACY,
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
    trailer_end = verifier.offset + SEC_TRAILER_SIZE
    body = protection.context.unwrap(
        pdu[:stub_start],
        pdu[stub_start : verifier.offset],
        pdu[verifier.offset : trailer_end],
        verifier.token,
        seal=protection.level == AuthnLevel.PKT_PRIVACY,
        header_signing=protection.header_signing,
    )
    padding = verifier.trailer.auth_pad_length
    return body[:-padding] if padding else body
