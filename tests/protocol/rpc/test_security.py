"""Authentication of connections and protection of calls, the server's side."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.protocol.rpc.harness import (
    ADD,
    ECHO,
    HOST,
    SECRET,
    TEST_ID,
    Case,
    Link,
    Number,
    Octets,
    bind_pdu,
    element,
    fault,
    fragment,
    request_pdu,
    response,
)
from tests.protocol.rpc.mechanism import AUTH_TYPE, FakeContext
from tests.protocol.rpc.test_binding import MGMT_ID, nak_of

from openmsmq.protocol.rpc import CloseReason, LoggedOn, RpcSettings
from openmsmq.protocol.rpc.protection import Protection, fragments, open_fragment
from openmsmq.security.caller import ANONYMOUS_CALLER
from openmsmq.wire.ndr import NDR, Call
from openmsmq.wire.ndr.structures import TRAILER_SIGNATURE
from openmsmq.wire.rpc.bind import Bind
from openmsmq.wire.rpc.header import LITTLE_ENDIAN_DREP, WHOLE, PduType, PfcFlags, pack_pdu
from openmsmq.wire.rpc.sec_trailer import SecTrailer, parse_verifier
from openmsmq.wire.rpc.status import (
    NCA_S_FAULT_REMOTE_NO_MEMORY,
    NCA_S_PROTO_ERROR,
    RPC_ACCESS_DENIED,
    RPC_S_SEC_PKG_ERROR,
    RPC_X_BAD_STUB_DATA,
    AuthnLevel,
    RejectReason,
)
from openmsmq.wire.rpc.verification_trailer import (
    SEC_VT_COMMAND_END,
    SEC_VT_MUST_PROCESS_COMMAND,
    Header2,
    VerificationTrailer,
    append_trailer,
)

CONNECT, PKT = AuthnLevel.CONNECT, AuthnLevel.PKT
INTEGRITY, PRIVACY = AuthnLevel.PKT_INTEGRITY, AuthnLevel.PKT_PRIVACY
FIRST = int(PfcFlags.PFC_FIRST_FRAG)
LAST = int(PfcFlags.PFC_LAST_FRAG)
HEADER_SIGN = int(PfcFlags.PFC_SUPPORT_HEADER_SIGN)


def verifier(
    token: bytes, level: int = INTEGRITY, context: int = 1, auth_type: int = AUTH_TYPE, pad: int = 0
) -> bytes:
    return SecTrailer(auth_type, level, context, pad).serialize() + token


def auth3(link: Link, token: bytes, **fields: Any) -> list[bytes]:
    return link.send(pack_pdu(PduType.AUTH3, 1, bytes(4), verifier=verifier(token, **fields)))


def alter(link: Link, token: bytes, **fields: Any) -> list[bytes]:
    pdu = bind_pdu(ptype=PduType.ALTER_CONTEXT, verifier=verifier(token, **fields))
    return link.send(pdu)


def reason(link: Link) -> CloseReason:
    assert link.closed is not None
    return link.closed.reason


class Peer:
    """The initiator of one security context on a raw link."""

    def __init__(
        self,
        link: Link,
        *,
        level: AuthnLevel = INTEGRITY,
        context: int = 1,
        name: str = "alice",
        flags: int = WHOLE | HEADER_SIGN,
        begin: bool = True,
    ) -> None:
        self.link = link
        self.security = FakeContext(name)
        self.protection = Protection(
            self.security, AUTH_TYPE, level, context, flags & HEADER_SIGN != 0
        )
        token = verifier(self.security.step(b""), level, context)
        ptype = PduType.BIND if begin else PduType.ALTER_CONTEXT
        (answer,) = link.send(bind_pdu(ptype=ptype, verifier=token, flags=flags))
        auth_length = int.from_bytes(answer[10:12], "little")
        last = self.security.step(parse_verifier(answer, auth_length).token)
        assert auth3(link, last, level=level, context=context) == []

    def pdus(self, call: Call, request: Any, *, call_id: int = 1, size: int = 5840) -> list[bytes]:
        return self.stub_pdus(call.request.encode(request, NDR), call.opnum, call_id, size)

    def stub_pdus(
        self, stub: bytes, opnum: int = 0, call_id: int = 1, size: int = 5840
    ) -> list[bytes]:
        return fragments(
            PduType.REQUEST,
            stub,
            call_id=call_id,
            p_cont_id=0,
            opnum=opnum,
            max_fragment=size,
            protection=self.protection,
        )

    def response(self, call: Call, pdus: Sequence[bytes]) -> Any:
        stub = b"".join(
            open_fragment(pdu, 24, parse_verifier(pdu, 16, 24), self.protection) for pdu in pdus
        )
        return call.response.decode(stub, NDR)[0]


@pytest.mark.parametrize("level", [PKT, INTEGRITY, PRIVACY])
@pytest.mark.parametrize("flags", [WHOLE, WHOLE | HEADER_SIGN])
def test_signed_calls_are_answered_with_signatures(level: AuthnLevel, flags: int) -> None:
    link = Case().link()
    peer = Peer(link, level=level, flags=flags)
    data = bytes(range(256)) * 40
    pdus = link.send(b"".join(peer.pdus(ECHO, Octets(data))))
    assert peer.response(ECHO, pdus).octets == data
    if level is PRIVACY:
        assert data[:64] not in b"".join(pdus)


@pytest.mark.parametrize(
    ("level", "auth_type", "expected"),
    [
        (CONNECT, 9, RejectReason.AUTHENTICATION_TYPE_NOT_RECOGNIZED),
        (CONNECT, 0, RejectReason.AUTHENTICATION_TYPE_NOT_RECOGNIZED),
        (0, AUTH_TYPE, RejectReason.REASON_NOT_SPECIFIED),
        (1, AUTH_TYPE, RejectReason.REASON_NOT_SPECIFIED),
        (7, 9, RejectReason.REASON_NOT_SPECIFIED),
        (AuthnLevel.CALL, AUTH_TYPE, RejectReason.INVALID_CHECKSUM),
    ],
)
def test_unknown_types_and_levels_are_refused_in_a_bind(
    level: int, auth_type: int, expected: RejectReason
) -> None:
    link = Case().link()
    pdus = link.bind(verifier=verifier(b"alice:1", level, auth_type=auth_type))
    assert nak_of(pdus) == expected
    assert reason(link) is CloseReason.AUTHENTICATION_FAILED


@pytest.mark.parametrize("noise", [b"x", b"alice:9", b"\x01" * 300])
def test_a_token_of_noise_is_refused_at_every_leg(noise: bytes) -> None:
    link = Case().link()
    assert nak_of(link.bind(verifier=verifier(noise))) == RejectReason.INVALID_CHECKSUM
    link = Case(legs=5).link()
    link.bind(verifier=verifier(b"alice:1"))
    assert fault(alter(link, noise)).status == RPC_ACCESS_DENIED
    link = Case().link()
    link.bind(verifier=verifier(b"alice:1"))
    assert auth3(link, noise) == []
    assert fault(link.send(fragment(b"", verifier=verifier(bytes(16))))).status == RPC_ACCESS_DENIED
    assert reason(link) is CloseReason.AUTHENTICATION_FAILED


def test_auth3_must_be_the_last_leg() -> None:
    link = Case(legs=5).link()
    link.bind(verifier=verifier(b"alice:1", CONNECT))
    assert auth3(link, b"3", level=CONNECT) == []
    # A call without a verifier uses the context at level connect, which failed.
    assert fault(link.call(ADD, Number(1))).status == RPC_ACCESS_DENIED


def test_auth3_without_a_context_or_token_is_a_protocol_error() -> None:
    for pdu in (
        pack_pdu(PduType.AUTH3, 1, bytes(4), verifier=verifier(b"x")),
        pack_pdu(PduType.AUTH3, 1, bytes(4)),
    ):
        link = Case().link().bound()
        error = fault(link.send(pdu))
        assert error.status == NCA_S_PROTO_ERROR
        assert error.pfc_flags & PfcFlags.PFC_DID_NOT_EXECUTE
    link = Case().link()
    Peer(link)
    assert fault(auth3(link, b"again")).status == NCA_S_PROTO_ERROR


def test_padding_that_does_not_fit_is_refused() -> None:
    link = Case().link()
    body = 72 - 24
    pdus = link.bind(verifier=verifier(b"alice:1", pad=body))
    assert pdus[0][2] == PduType.BIND_ACK
    link = Case().link()
    pdus = link.bind(verifier=verifier(b"alice:1", pad=body + 1))
    assert nak_of(pdus) == RejectReason.PROTOCOL_VERSION_NOT_SPECIFIED
    link = Case().link()
    link.bind(verifier=verifier(b"alice:1"))
    assert fault(auth3(link, b"3", pad=1)).status == NCA_S_FAULT_REMOTE_NO_MEMORY


def test_a_context_keeps_its_type_and_level_and_is_built_once() -> None:
    for fields, status in (
        ({"level": PRIVACY}, RPC_ACCESS_DENIED),
        ({"auth_type": 9}, RPC_S_SEC_PKG_ERROR),
        ({"auth_type": 0}, RPC_ACCESS_DENIED),
    ):
        link = Case(legs=4).link()
        link.bind(verifier=verifier(b"alice:1"))
        assert fault(alter(link, b"3", **fields)).status == status
    link = Case().link()
    Peer(link)
    assert fault(alter(link, b"alice:1")).status == RPC_ACCESS_DENIED
    # Another meaning of a context is found before the token is looked at.
    link = Case(legs=4).link()
    link.bind(verifier=verifier(b"alice:1"))
    pdu = bind_pdu(
        element(0, MGMT_ID), ptype=PduType.ALTER_CONTEXT, verifier=verifier(b"3", PRIVACY)
    )
    assert fault(link.send(pdu)).status == NCA_S_PROTO_ERROR


def test_security_contexts_are_limited() -> None:
    case = Case(RpcSettings(max_security_contexts=2))
    link = case.link().bound()
    for context in (1, 2):
        Peer(link, context=context, begin=False)
    assert fault(alter(link, b"alice:1", context=3)).status == NCA_S_PROTO_ERROR


def test_several_contexts_serve_one_connection() -> None:
    link = Case().link().bound(flags=WHOLE | HEADER_SIGN)
    alice = Peer(link, context=1, begin=False)
    bob = Peer(link, context=2, name="bob", level=PRIVACY, begin=False)
    assert response(ADD, link.call(ADD, Number(1))) == Number(2)
    for peer, call_id in ((alice, 2), (bob, 3), (alice, 4)):
        (pdu,) = peer.pdus(ADD, Number(1), call_id=call_id)
        assert peer.response(ADD, link.send(pdu)) == Number(2)


def test_a_call_before_the_last_leg_is_a_protocol_error() -> None:
    link = Case().link()
    link.bind(verifier=verifier(b"alice:1"))
    error = fault(link.send(fragment(b"", verifier=verifier(bytes(16)))))
    assert (error.status, error.p_cont_id) == (NCA_S_PROTO_ERROR, 0)
    assert error.pfc_flags & PfcFlags.PFC_DID_NOT_EXECUTE


@pytest.mark.parametrize(
    "wrong",
    [
        verifier(bytes(16), INTEGRITY, 9),
        verifier(bytes(16), PRIVACY),
        verifier(bytes(16), auth_type=9),
    ],
)
def test_a_call_in_a_context_that_is_not_there_is_refused(wrong: bytes) -> None:
    for prepare in (Link.bound, Peer):
        link = Case().link()
        prepare(link)
        assert fault(link.send(fragment(b"", verifier=wrong))).status == RPC_ACCESS_DENIED


def test_at_level_connect_calls_need_no_verifier_and_one_is_ignored() -> None:
    link = Case().link()
    Peer(link, level=CONNECT)
    assert response(ADD, link.call(ADD, Number(1))) == Number(2)
    stub = ADD.request.encode(Number(1), NDR) + b"pad!"
    pdu = fragment(stub, call_id=2, verifier=verifier(bytes(16), CONNECT, pad=4))
    assert response(ADD, link.send(pdu)) == Number(2)


@pytest.mark.parametrize("level", [PKT, INTEGRITY, PRIVACY])
def test_a_pdu_that_was_changed_at_any_byte_never_reaches_the_method(level: AuthnLevel) -> None:
    def send(position: int | None) -> tuple[Link, list[bytes]]:
        link = Case().link()
        (pdu,) = Peer(link, level=level).pdus(ADD, Number(1), call_id=5)
        data = bytearray(pdu)
        if position is not None:
            data[position] ^= 0x40
        return link, link.send(bytes(data))

    link, good = send(None)
    assert good[0][2] == PduType.RESPONSE
    for position in range(16, len(good[0])):
        link, pdus = send(position)
        assert fault(pdus).status in (RPC_S_SEC_PKG_ERROR, RPC_ACCESS_DENIED, NCA_S_PROTO_ERROR)
        assert link.closed is not None


def test_a_replayed_pdu_is_refused() -> None:
    link = Case().link()
    peer = Peer(link)
    (pdu,) = peer.pdus(ADD, Number(1))
    assert peer.response(ADD, link.send(pdu)) == Number(2)
    assert fault(link.send(pdu)).status == RPC_S_SEC_PKG_ERROR


def test_fragments_of_a_call_keep_their_context() -> None:
    data = Octets(bytes(100))
    # The type and level that a later fragment says are ignored: only the signature counts.
    link = Case().link().bound()
    alice = Peer(link, context=1, begin=False, flags=WHOLE)
    bob = Peer(link, context=2, name="bob", begin=False, flags=WHOLE)
    first, *rest = alice.pdus(ECHO, data, size=96)
    changed = [bytearray(pdu) for pdu in rest]
    for pdu in changed:
        pdu[len(pdu) - 24] = 111
    pdus = link.send(first + b"".join(map(bytes, changed)))
    assert alice.response(ECHO, pdus) == data
    # A signature of another context is wrong.
    first = alice.pdus(ECHO, data, call_id=2, size=96)[0]
    other = bob.pdus(ECHO, data, call_id=2, size=96)[1]
    assert fault(link.send(first + other)).status == RPC_S_SEC_PKG_ERROR


def test_all_fragments_of_a_call_have_a_verifier_or_none() -> None:
    link = Case().link()
    first = Peer(link).pdus(ECHO, Octets(bytes(100)), size=96)[0]
    error = fault(link.send(first + fragment(b"", flags=LAST)))
    assert (error.status, error.pfc_flags) == (NCA_S_PROTO_ERROR, WHOLE)
    link = Case().link()
    last = Peer(link).pdus(ECHO, Octets(bytes(100)), size=96)[-1]
    assert fault(link.send(fragment(b"", flags=FIRST) + last)).status == NCA_S_PROTO_ERROR


def test_a_connection_that_cannot_sign_its_answer_is_closed() -> None:
    case = Case()
    link = case.link()
    peer = Peer(link)
    (pdu,) = peer.pdus(ADD, Number(1))
    security = case.server._connections[link.number].security
    assert security is not None
    context = security.known(1).context
    assert isinstance(context, FakeContext)
    context._sign = False
    assert link.send(pdu) == []
    assert reason(link) is CloseReason.AUTHENTICATION_FAILED


# Verification trailers


def send_trailer(trailer: VerificationTrailer | bytes, *, flags: int = WHOLE) -> list[bytes]:
    link = Case().link()
    peer = Peer(link, flags=flags)
    stub = ADD.request.encode(Number(1), NDR)
    if isinstance(trailer, VerificationTrailer):
        stub = append_trailer(stub, trailer)
    else:
        stub += trailer
    (pdu,) = peer.stub_pdus(stub)
    return link.send(pdu)


NDR_ID = element().transfer_syntaxes[0]
GOOD = Header2(PduType.REQUEST, LITTLE_ENDIAN_DREP, 1, 0, 0)


@pytest.mark.parametrize(
    "trailer",
    [
        VerificationTrailer(bits=0),
        VerificationTrailer(bits=0xFFFE),
        VerificationTrailer(interface=TEST_ID, transfer_syntax=NDR_ID),
        VerificationTrailer(header2=GOOD),
        VerificationTrailer(0, TEST_ID, NDR_ID, GOOD),
        b"\xfe" * 45,
        b"",
    ],
)
def test_a_trailer_that_agrees_is_taken(trailer: VerificationTrailer | bytes) -> None:
    assert send_trailer(trailer)[0][2] == PduType.RESPONSE


def test_header_signing_in_a_trailer_must_be_agreed_on() -> None:
    trailer = VerificationTrailer(bits=1)
    assert fault(send_trailer(trailer)).status == RPC_ACCESS_DENIED
    assert send_trailer(trailer, flags=WHOLE | HEADER_SIGN)[0][2] == PduType.RESPONSE


@pytest.mark.parametrize(
    "trailer",
    [
        VerificationTrailer(interface=MGMT_ID, transfer_syntax=NDR_ID),
        VerificationTrailer(interface=TEST_ID, transfer_syntax=TEST_ID),
        VerificationTrailer(header2=Header2(PduType.RESPONSE, LITTLE_ENDIAN_DREP, 1, 0, 0)),
        VerificationTrailer(header2=Header2(PduType.REQUEST, bytes(4), 1, 0, 0)),
        VerificationTrailer(header2=Header2(PduType.REQUEST, LITTLE_ENDIAN_DREP, 2, 0, 0)),
        VerificationTrailer(header2=Header2(PduType.REQUEST, LITTLE_ENDIAN_DREP, 1, 1, 0)),
        VerificationTrailer(header2=Header2(PduType.REQUEST, LITTLE_ENDIAN_DREP, 1, 0, 1)),
        TRAILER_SIGNATURE
        + (SEC_VT_COMMAND_END | SEC_VT_MUST_PROCESS_COMMAND | 9).to_bytes(2, "little")
        + bytes(2),
    ],
)
def test_a_trailer_that_differs_is_refused(trailer: VerificationTrailer | bytes) -> None:
    assert fault(send_trailer(trailer)).status == RPC_ACCESS_DENIED


def test_a_trailer_that_is_cut_off_is_bad_stub_data() -> None:
    assert fault(send_trailer(TRAILER_SIGNATURE + b"\x01\x00")).status == RPC_X_BAD_STUB_DATA


def test_an_anonymous_logon_counts_as_no_authentication() -> None:
    link = Case().link()
    peer = Peer(link, level=PRIVACY, name="nobody")
    (pdu,) = peer.pdus(SECRET, Number(1))
    assert fault(link.send(pdu)).status == RPC_ACCESS_DENIED
    (pdu,) = peer.pdus(ADD, Number(1), call_id=2)
    assert peer.response(ADD, link.send(pdu)) == Number(2)


def test_a_request_that_is_not_signed_on_a_signed_connection_is_anonymous() -> None:
    link = Case().link()
    Peer(link)
    assert response(ADD, link.send(request_pdu(ADD, Number(1)))) == Number(2)


def test_a_logon_is_told_with_its_name_and_level() -> None:
    case = Case()
    link = case.link()
    Peer(link, level=PRIVACY, name="bob")
    (event,) = case.events
    assert isinstance(event, LoggedOn)
    assert (event.connection, event.address) == (link.number, HOST)
    assert (event.identity, event.level) == ("bob", PRIVACY)
    connection = case.server._connections[link.number]
    assert event.sid == str(connection.caller.sid)
    assert connection.identity == "bob"
    assert case.server.counters.logons == 1


def test_a_client_is_anonymous_until_it_has_logged_on() -> None:
    case = Case()
    links = [case.link().bound(), case.link()]
    links[1].send(bind_pdu(verifier=verifier(FakeContext("bob").step(b""))))
    for link in links:
        connection = case.server._connections[link.number]
        assert (connection.caller, connection.identity) == (ANONYMOUS_CALLER, "")
    assert case.events == []


def test_who_was_cut_off_is_told() -> None:
    case = Case()
    link = case.link()
    Peer(link, name="bob")
    link.send(pack_pdu(99, 1, b""))
    assert link.closed is not None
    assert link.closed.identity == "bob"
    assert case.server.counters.closed[CloseReason.PROTOCOL_ERROR] == 1
    assert case.server.counters.faults == 1


@pytest.mark.parametrize("missing", [1, 4, 16])
def test_contexts_that_reach_into_the_credentials_are_malformed(missing: int) -> None:
    link = Case().link()
    body = Bind(5840, 5840, 0, (element(0), element(1, MGMT_ID))).serialize()[:-missing]
    pdus = link.send(pack_pdu(PduType.BIND, 1, body, verifier=verifier(b"alice:1")))
    assert all(pdu[2] != PduType.BIND_ACK for pdu in pdus)
    assert link.closed is not None
