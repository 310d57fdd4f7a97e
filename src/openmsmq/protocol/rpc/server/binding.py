"""bind, alter_context and auth3: interfaces, association groups and authentication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.protocol.rpc.negotiation import negotiate
from openmsmq.wire.errors import ProtocolViolation
from openmsmq.wire.rpc.bind import Bind, BindAck
from openmsmq.wire.rpc.call import CALL_HEADER_SIZE
from openmsmq.wire.rpc.header import (
    HEADER_SIZE,
    WHOLE,
    CommonHeader,
    PduType,
    PfcFlags,
    pack_pdu,
)
from openmsmq.wire.rpc.sec_trailer import SecTrailer, Verifier, parse_verifier
from openmsmq.wire.rpc.status import NCA_S_PROTO_ERROR, RPC_ACCESS_DENIED, RejectReason

from .security import Leg, Phase, SecurityContexts, SecurityRefused
from .state import State

if TYPE_CHECKING:
    from .connection import ServerConnection

_HEADER_SIGN: Final = int(PfcFlags.PFC_SUPPORT_HEADER_SIGN)
_CONC_MPX: Final = int(PfcFlags.PFC_CONC_MPX)
# The padding before a verifier ends here at the earliest.
_BIND_BODY_START: Final = CALL_HEADER_SIZE
_AUTH3_BODY_START: Final = HEADER_SIZE + 4
MIN_FRAGMENT: Final = 2048


def bind(connection: ServerConnection, pdu: bytes, now: float) -> None:
    """Answer the first PDU of a connection."""
    header, body = CommonHeader.parse(pdu)
    verifier = _verifier(pdu, header.auth_length, _BIND_BODY_START)
    proposal, _ = Bind.parse(memoryview(pdu)[body : _body_end(pdu, header)])
    server = connection.server
    try:
        outcome = negotiate(
            proposal.p_context_elem, connection.endpoint.interfaces, {}, may_offer_features=True
        )
        token = _authenticate(connection, verifier, Leg.BIND)
    except ProtocolViolation as exc:
        connection.refuse_bind(header.call_id, RejectReason.REASON_NOT_SPECIFIED, str(exc))
        return
    except SecurityRefused as refused:
        connection.refuse_bind(header.call_id, refused.reason, refused.detail, authentication=True)
        return
    association = server.associations.join(proposal.assoc_group_id, connection.address)
    if association is None:
        reason = RejectReason.REASON_NOT_SPECIFIED
        connection.refuse_bind(header.call_id, reason, "the association group is not available")
        return
    connection.association = association
    association.connections.append(connection)
    connection.state = State.BOUND
    connection.contexts.update(outcome.accepted)
    connection.multiplexed = header.pfc_flags & _CONC_MPX != 0
    connection.max_fragment = _fragment_size(proposal, server.settings.max_fragment)
    flags = header.pfc_flags & (_HEADER_SIGN | _CONC_MPX)
    connection.header_signing = flags & _HEADER_SIGN != 0
    ack = BindAck(
        connection.max_fragment,
        connection.max_fragment,
        association.assoc_group_id,
        str(connection.endpoint.port),
        tuple(outcome.results),
    )
    _answer_bind(connection, PduType.BIND_ACK, header.call_id, flags, ack, verifier, token)
    server.progressed(connection, now)


def alter_context(connection: ServerConnection, pdu: bytes, now: float) -> None:
    """Add presentation contexts, or continue an authentication."""
    header, body = CommonHeader.parse(pdu)
    verifier = _verifier(pdu, header.auth_length, _BIND_BODY_START)
    if verifier is not None and verifier.trailer.auth_type == 0:
        connection.fault_and_close(header.call_id, RPC_ACCESS_DENIED, "auth_type none")
        return
    alter, _ = Bind.parse(memoryview(pdu)[body : _body_end(pdu, header)])
    interfaces = connection.endpoint.interfaces
    try:
        outcome = negotiate(
            alter.p_context_elem, interfaces, connection.contexts, may_offer_features=False
        )
        limit = connection.server.settings.max_contexts * len(interfaces)
        if len(connection.contexts.keys() | outcome.accepted.keys()) > limit:
            raise ProtocolViolation(f"more than {limit} presentation contexts")
        token = _authenticate(connection, verifier, Leg.ALTER_CONTEXT)
    except ProtocolViolation as exc:
        connection.fault_and_close(header.call_id, NCA_S_PROTO_ERROR, str(exc))
        return
    except SecurityRefused as refused:
        connection.fault_and_close(
            header.call_id, refused.status, refused.detail, authentication=True
        )
        return
    connection.contexts.update(outcome.accepted)
    flags = header.pfc_flags & _HEADER_SIGN
    connection.header_signing = connection.header_signing or flags != 0
    assert connection.association is not None  # noqa: S101 - the state is BOUND
    response = BindAck(
        connection.max_fragment,
        connection.max_fragment,
        connection.association.assoc_group_id,
        "",
        tuple(outcome.results),
    )
    answer = PduType.ALTER_CONTEXT_RESP
    _answer_bind(connection, answer, header.call_id, flags, response, verifier, token)
    connection.server.progressed(connection, now)


def auth3(connection: ServerConnection, pdu: bytes, now: float) -> None:
    """Process the last token of an authentication, which has no answer."""
    header, _ = CommonHeader.parse(pdu)
    verifier = _verifier(pdu, header.auth_length, _AUTH3_BODY_START)
    if verifier is None:
        connection.fault_and_close(header.call_id, NCA_S_PROTO_ERROR, "auth3 without a token")
        return
    try:
        _authenticate(connection, verifier, Leg.AUTH3)
    except SecurityRefused as refused:
        connection.fault_and_close(header.call_id, refused.status, refused.detail)
        return
    connection.server.progressed(connection, now)


def _authenticate(connection: ServerConnection, verifier: Verifier | None, leg: Leg) -> bytes:
    if verifier is None:
        return b""
    if connection.security is None:
        server = connection.server
        limit = server.settings.max_security_contexts
        connection.security = SecurityContexts(server.acceptors, limit)
    token = connection.security.step(verifier, leg)
    trailer = verifier.trailer
    authentication = connection.security.known(trailer.auth_context_id)
    if authentication.phase is Phase.COMPLETE:
        connection.server.logged_on(connection, authentication.context, trailer.auth_level)
    return token


def _answer_bind(
    connection: ServerConnection,
    ptype: PduType,
    call_id: int,
    flags: int,
    ack: BindAck,
    verifier: Verifier | None,
    token: bytes,
) -> None:
    trailer = b""
    if verifier is not None:
        request_trailer = verifier.trailer
        answered = SecTrailer(
            request_trailer.auth_type, request_trailer.auth_level, request_trailer.auth_context_id
        )
        trailer = answered.serialize() + token
    connection.write(
        pack_pdu(ptype, call_id, ack.serialize(), flags=flags | WHOLE, verifier=trailer)
    )


def _verifier(pdu: bytes, auth_length: int, body_start: int) -> Verifier | None:
    return parse_verifier(pdu, auth_length, body_start) if auth_length else None


def _body_end(pdu: bytes, header: CommonHeader) -> int:
    return len(pdu) - (header.auth_length + 8 if header.auth_length else 0)


def _fragment_size(proposal: Bind, largest: int) -> int:
    """Both directions use the smallest size that both sides support, in steps of 8."""
    size = min(proposal.max_xmit_frag, proposal.max_recv_frag, largest)
    return max(size - size % 8, MIN_FRAGMENT)
