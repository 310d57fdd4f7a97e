"""Contexts of both sides with tickets of a real KDC: protection, negotiation, refusals."""

import os
import re
import time
from pathlib import Path
from typing import Any, Final

import pytest
from tests.interop.kerberos.kdc import (
    ALICE,
    BOB,
    PASSWORD,
    REALM,
    SERVER,
    SERVICE,
    Realm,
    needs_gssapi,
    needs_kdc,
)
from tests.security.ntlm import peers

from openmsmq.security.caller import sender_caller
from openmsmq.security.kerberos import (
    KerberosAcceptor,
    KerberosAccount,
    KerberosContext,
    KerberosInitiator,
    TicketSource,
    has_ticket,
    read_keytab,
)
from openmsmq.security.mechanism import (
    RPC_C_AUTHN_GSS_NEGOTIATE,
    AuthenticationFailed,
    SecurityContext,
)
from openmsmq.security.ntlm import NtlmCredentials
from openmsmq.security.packages import acceptors, initiators
from openmsmq.security.spnego.tokens import KERBEROS, NegTokenInit, NegTokenResp

pytestmark = [needs_gssapi, needs_kdc]

ACCOUNTS: Final = {ALICE: KerberosAccount("Alice", sender_caller(peers.ALICE))}
HEADER, BODY, TRAILER = b"request header", b"the stub, padded" * 20, b"trailer."


def server(realm: Realm, keytab: Path | None = None) -> KerberosContext:
    return KerberosAcceptor(keytab or realm.keytab, ACCOUNTS.get)()


def client(
    realm: Realm,
    monkeypatch: pytest.MonkeyPatch,
    principal: str = ALICE,
    *,
    host: str = SERVER,
) -> KerberosInitiator:
    """What a user starts who has just got a ticket."""
    monkeypatch.setenv("KRB5CCNAME", realm.ticket(principal))
    return KerberosInitiator(TicketSource(), host)


def log_on(initiator: SecurityContext, acceptor: SecurityContext) -> list[bytes]:
    """All tokens; the last answer of the acceptor ends it, as in RPC."""
    tokens = [initiator.step(b"")]
    while not (initiator.complete and acceptor.complete):
        tokens.append(acceptor.step(tokens[-1]))
        if not initiator.complete:
            tokens.append(initiator.step(tokens[-1]))
    return tokens


def exchange(source: SecurityContext, target: SecurityContext, *, seal: bool, signed: bool) -> None:
    """One message, whose header counts only where headers are signed."""
    body, signature = source.wrap(HEADER, BODY, TRAILER, seal=seal, header_signing=signed)
    assert (body == BODY) is not seal
    assert len(signature) == source.signature_size(seal=seal)
    header = HEADER if signed else b"another header"
    opened = target.unwrap(header, body, TRAILER, signature, seal=seal, header_signing=signed)
    assert opened == BODY


@pytest.mark.spec("MQRR-1.7-03")
@pytest.mark.parametrize("seal", [False, True])
@pytest.mark.parametrize("signed", [False, True])
def test_a_ticket_logs_on_and_protects(
    realm: Realm, monkeypatch: pytest.MonkeyPatch, *, seal: bool, signed: bool
) -> None:
    initiator, acceptor = client(realm, monkeypatch)(), server(realm)
    tokens = log_on(initiator, acceptor)
    # DCE style: a third token of the client, and the empty answer to it.
    assert [bool(token) for token in tokens] == [True, True, True, False, False]
    assert (acceptor.identity, acceptor.caller.sid) == ("Alice", peers.ALICE)
    assert initiator.identity == ALICE
    assert (acceptor.signature_size(seal=False), acceptor.signature_size(seal=True)) == (28, 76)
    for _ in range(3):
        exchange(initiator, acceptor, seal=seal, signed=signed)
        exchange(acceptor, initiator, seal=seal, signed=signed)


@pytest.mark.parametrize("seal", [False, True])
@pytest.mark.parametrize("part", ["header", "body", "trailer", "signature", "order", "again"])
def test_a_changed_message_is_refused_and_ends_the_context(
    realm: Realm, monkeypatch: pytest.MonkeyPatch, part: str, *, seal: bool
) -> None:
    initiator, acceptor = client(realm, monkeypatch)(), server(realm)
    log_on(initiator, acceptor)
    sent = {"header": HEADER, "trailer": TRAILER}
    sent["body"], sent["signature"] = initiator.wrap(
        HEADER, BODY, TRAILER, seal=seal, header_signing=True
    )
    if part == "again":
        acceptor.unwrap(**sent, seal=seal, header_signing=True)
    elif part == "order":
        sent["body"], sent["signature"] = initiator.wrap(
            HEADER, BODY, TRAILER, seal=seal, header_signing=True
        )
    else:
        sent[part] = sent[part][:-1] + bytes((sent[part][-1] ^ 1,))
    with pytest.raises(AuthenticationFailed, match="wrong signature, or a repeated or missing"):
        acceptor.unwrap(**sent, seal=seal, header_signing=True)
    with pytest.raises(AuthenticationFailed, match="FAILED"):
        acceptor.wrap(HEADER, BODY, TRAILER, seal=seal, header_signing=True)


def test_a_signed_message_does_not_pass_for_an_encrypted_one(
    realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gssapi  # type: ignore[import-not-found,unused-ignore]

    initiator, acceptor = client(realm, monkeypatch)(), server(realm)
    log_on(initiator, acceptor)
    # What a client could send that wraps without encryption.
    kind = gssapi.raw.IOVBufferType
    buffers = gssapi.raw.IOV(
        kind.header, (kind.sign_only, False, b""), (kind.data, False, BODY), std_layout=False
    )
    gssapi.raw.wrap_iov(initiator._gss, buffers, confidential=False)
    signature, body = buffers[0].value, buffers[2].value
    assert signature is not None
    assert body == BODY
    with pytest.raises(AuthenticationFailed):
        acceptor.unwrap(b"", body, b"", signature, seal=True, header_signing=True)


class Weak(KerberosInitiator):
    """Asks for neither signatures nor encryption, or not for three tokens."""

    def __init__(self, flags: int, *, is_plain: bool) -> None:
        super().__init__(TicketSource(), SERVER)
        self.flags, self.is_plain = flags, is_plain

    def _make(self) -> Any:
        import gssapi  # type: ignore[import-not-found,unused-ignore]

        kerberos = gssapi.MechType.kerberos
        credentials = gssapi.Credentials(usage="initiate", mechs=[kerberos])
        if self.is_plain:
            no_flags = gssapi.OID.from_int_seq("1.2.752.43.13.29")
            gssapi.raw.set_cred_option(no_flags, credentials)
        name = gssapi.Name(f"host@{SERVER}", gssapi.NameType.hostbased_service)
        return gssapi.SecurityContext(
            name=name, creds=credentials, mech=kerberos, flags=self.flags, usage="initiate"
        )


DCE_STYLE, MUTUAL, CONFIDENTIALITY, INTEGRITY = 0x1000, 2, 16, 32


def test_sealing_must_be_agreed_on(realm: Realm, monkeypatch: pytest.MonkeyPatch) -> None:
    client(realm, monkeypatch)
    weak = Weak(DCE_STYLE | MUTUAL | INTEGRITY, is_plain=True)
    initiator, acceptor = weak(), server(realm)
    log_on(initiator, acceptor)
    exchange(initiator, acceptor, seal=False, signed=True)
    for side in (initiator, acceptor):
        assert side.signature_size(seal=True) == 0
        with pytest.raises(AuthenticationFailed, match="sealing"):
            side.wrap(HEADER, BODY, TRAILER, seal=True, header_signing=True)


def test_a_client_at_level_connect_agrees_on_no_signatures(
    realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(realm, monkeypatch)
    initiator, acceptor = Weak(DCE_STYLE | MUTUAL, is_plain=True)(), server(realm)
    log_on(initiator, acceptor)
    assert acceptor.caller.sid == peers.ALICE
    assert not acceptor.has_integrity
    assert acceptor.signature_size(seal=False) == acceptor.signature_size(seal=True) == 0
    with pytest.raises(AuthenticationFailed, match="signing"):
        acceptor.wrap(HEADER, BODY, TRAILER, seal=False, header_signing=True)


@pytest.mark.parametrize(
    ("flags", "missing"),
    [
        (MUTUAL | INTEGRITY | CONFIDENTIALITY, "three tokens"),
        (INTEGRITY | CONFIDENTIALITY, "mutual authentication"),
    ],
)
def test_a_client_that_asks_for_too_little_is_refused(
    realm: Realm, monkeypatch: pytest.MonkeyPatch, flags: int, missing: str
) -> None:
    client(realm, monkeypatch)
    initiator, acceptor = Weak(flags, is_plain=True)(), server(realm)
    with pytest.raises(AuthenticationFailed, match=f"did not agree on.*{missing}"):
        log_on(initiator, acceptor)
    assert not acceptor.complete


def test_nothing_is_protected_before_the_end(realm: Realm) -> None:
    acceptor = server(realm)
    assert not acceptor.complete
    assert not acceptor.has_integrity
    assert acceptor.identity == ""
    with pytest.raises(AuthenticationFailed, match="NEGOTIATING"):
        acceptor.wrap(HEADER, BODY, TRAILER, seal=False, header_signing=True)
    with pytest.raises(AuthenticationFailed, match="no caller"):
        _ = acceptor.caller


def negotiation(
    realm: Realm, tickets: KerberosInitiator | None, credentials: NtlmCredentials | None
) -> tuple[SecurityContext, SecurityContext]:
    """Both sides of SPNEGO; the server knows Kerberos and NTLM."""
    started = initiators(credentials, random=os.urandom, utc=time.time, seal=True, kerberos=tickets)
    accepted = acceptors(
        peers.NAMES,
        peers.find,
        random=os.urandom,
        utc=time.time,
        kerberos=KerberosAcceptor(realm.keytab, ACCOUNTS.get),
    )
    return started[RPC_C_AUTHN_GSS_NEGOTIATE](), accepted[RPC_C_AUTHN_GSS_NEGOTIATE]()


NTLM_USER: Final = NtlmCredentials.of_password("alice", peers.PASSWORD)


@pytest.mark.spec("MQRR-1.7-04")
@pytest.mark.parametrize("credentials", [None, NTLM_USER], ids=["alone", "before NTLM"])
def test_spnego_carries_kerberos(
    realm: Realm, monkeypatch: pytest.MonkeyPatch, credentials: NtlmCredentials | None
) -> None:
    tickets = client(realm, monkeypatch)
    initiator, acceptor = negotiation(realm, tickets, credentials)
    tokens = log_on(initiator, acceptor)
    assert NegTokenResp.parse(tokens[1]).supported_mech == KERBEROS
    assert NegTokenResp.parse(tokens[2]).mech_list_mic is not None
    assert NegTokenResp.parse(tokens[3]).mech_list_mic is not None
    assert (initiator.identity, acceptor.identity) == (ALICE, "Alice")
    for _ in range(2):
        exchange(initiator, acceptor, seal=True, signed=True)
        exchange(acceptor, initiator, seal=True, signed=True)


def test_spnego_carries_ntlm_where_kerberos_is_offered_too(realm: Realm) -> None:
    initiator, acceptor = negotiation(realm, None, NTLM_USER)
    log_on(initiator, acceptor)
    assert (initiator.identity, acceptor.identity) == ("alice", "Alice")
    exchange(initiator, acceptor, seal=True, signed=True)


def test_a_changed_list_of_mechanisms_is_noticed(
    realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    initiator, acceptor = negotiation(realm, client(realm, monkeypatch), NTLM_USER)
    init = NegTokenInit.parse(initiator.step(b""))
    assert init.mech_token is not None
    without_ntlm = NegTokenInit.offering(init.mech_types[:-1], init.mech_token)
    answer = acceptor.step(without_ntlm.serialize())
    with pytest.raises(AuthenticationFailed, match="wrong signature"):
        acceptor.step(initiator.step(answer))


# What is refused


def test_a_ticket_of_nobody_here_is_refused(realm: Realm, monkeypatch: pytest.MonkeyPatch) -> None:
    initiator, acceptor = client(realm, monkeypatch, BOB)(), server(realm)
    with pytest.raises(AuthenticationFailed, match=f"{BOB}.*no account here"):
        log_on(initiator, acceptor)
    assert not acceptor.complete


def test_a_replayed_ticket_logs_nobody_on(realm: Realm, monkeypatch: pytest.MonkeyPatch) -> None:
    initiator, acceptor = client(realm, monkeypatch)(), server(realm)
    first, _, third, *_ = log_on(initiator, acceptor)
    again = server(realm)
    with pytest.raises(AuthenticationFailed, match="Request is a replay"):
        again.step(first)
    # Nor does the last token fit another exchange.
    other = server(realm)
    other.step(KerberosInitiator(TicketSource(), SERVER)().step(b""))
    with pytest.raises(AuthenticationFailed):
        other.step(third)
    assert not again.complete
    assert not other.complete


def test_a_ticket_for_another_key_is_refused(
    realm: Realm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other.keytab"
    realm.add_service(f"host/other{time.monotonic_ns()}.example@{REALM}", other)
    initiator, acceptor = client(realm, monkeypatch)(), server(realm, other)
    with pytest.raises(AuthenticationFailed, match=f"{SERVICE} not found in keytab"):
        acceptor.step(initiator.step(b""))


def test_a_missing_keytab_refuses_logons_and_says_why(
    realm: Realm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    initiator, acceptor = client(realm, monkeypatch)(), server(realm, tmp_path / "none")
    with pytest.raises(AuthenticationFailed, match="none"):
        acceptor.step(initiator.step(b""))


def late(realm: Realm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, token: bytes) -> str:
    """What an acceptor says to a token of two seconds ago whose clock may differ by one."""
    strict = tmp_path / "strict.conf"
    text = (realm.folder / "krb5.conf").read_text()
    strict.write_text(text.replace("clockskew = 300", "clockskew = 1"))
    time.sleep(2.5)
    monkeypatch.setenv("KRB5_CONFIG", str(strict))
    with pytest.raises(AuthenticationFailed) as failure:
        server(realm).step(token)
    return str(failure.value)


def test_clocks_apart_are_told(
    realm: Realm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    token = client(realm, monkeypatch)().step(b"")
    assert "Clock skew too great" in late(realm, monkeypatch, tmp_path, token)


def test_an_expired_ticket_is_refused_by_both_sides(
    realm: Realm, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KRB5CCNAME", realm.ticket(ALICE, "-l", "1s"))
    tickets = KerberosInitiator(TicketSource(), SERVER)
    token = tickets().step(b"")
    # The token is as old as the ticket, at least, and that is looked at first.
    assert re.search("expired|Clock skew", late(realm, monkeypatch, tmp_path, token))
    assert not has_ticket()
    with pytest.raises(AuthenticationFailed, match="expired"):
        tickets().step(b"")


def test_noise_is_refused_at_every_leg(realm: Realm, monkeypatch: pytest.MonkeyPatch) -> None:
    for noise in (b"", b"\0", b"\x6e\x82\xff\xff", b"NTLMSSP\0" + bytes(40), os.urandom(700)):
        with pytest.raises(AuthenticationFailed):
            server(realm).step(noise)
        initiator = client(realm, monkeypatch)()
        initiator.step(b"")
        with pytest.raises(AuthenticationFailed):
            initiator.step(noise)
        acceptor = server(realm)
        acceptor.step(client(realm, monkeypatch)().step(b""))
        with pytest.raises(AuthenticationFailed):
            acceptor.step(noise)
        with pytest.raises(AuthenticationFailed, match="FAILED"):
            acceptor.step(noise)


def test_tokens_out_of_turn_are_refused(realm: Realm, monkeypatch: pytest.MonkeyPatch) -> None:
    tickets = client(realm, monkeypatch)
    with pytest.raises(AuthenticationFailed, match="starts with an empty token"):
        tickets().step(b"token")
    initiator, acceptor = tickets(), server(realm)
    initiator.step(acceptor.step(initiator.step(b"")))
    with pytest.raises(AuthenticationFailed, match="out of turn"):
        initiator.step(b"more")


# Where tickets come from


def test_without_a_ticket_nothing_starts(realm: Realm) -> None:
    assert not has_ticket()
    with pytest.raises(AuthenticationFailed, match=r"(?i)no.*cache|no credentials"):
        KerberosInitiator(TicketSource(), SERVER).fetch_ticket()


def test_the_ticket_of_the_user_is_found(realm: Realm, monkeypatch: pytest.MonkeyPatch) -> None:
    tickets = client(realm, monkeypatch)
    assert has_ticket()
    tickets.fetch_ticket()
    assert SERVICE in realm.run("klist", "-c", os.environ["KRB5CCNAME"])


def test_a_server_that_the_kdc_does_not_know_is_told(
    realm: Realm, monkeypatch: pytest.MonkeyPatch
) -> None:
    tickets = client(realm, monkeypatch, host="nowhere.example")
    with pytest.raises(AuthenticationFailed, match=r"not found in Kerberos database|realm"):
        tickets.fetch_ticket()


def test_a_password_gets_a_ticket_once(realm: Realm, monkeypatch: pytest.MonkeyPatch) -> None:
    tickets = KerberosInitiator(TicketSource(ALICE, PASSWORD), SERVER)
    log_on(tickets(), server(realm))
    # The KDC is not asked again.
    nowhere = realm.folder / "nowhere.conf"
    nowhere.write_text((realm.folder / "krb5.conf").read_text().replace(f":{realm.port}", ":1"))
    monkeypatch.setenv("KRB5_CONFIG", str(nowhere))
    log_on(tickets(), server(realm))


def test_a_wrong_password_is_refused(realm: Realm) -> None:
    tickets = KerberosInitiator(TicketSource(ALICE, "wrong"), SERVER)
    with pytest.raises(AuthenticationFailed, match=r"(?i)password|preauthentication|integrity"):
        tickets.fetch_ticket()


def test_a_keytab_gets_a_ticket(realm: Realm, tmp_path: Path) -> None:
    keytab, principal = tmp_path / "a.keytab", f"qm{time.monotonic_ns()}@{REALM}"
    realm.add_service(principal, keytab)
    assert read_keytab(keytab) == (principal,)
    initiator = KerberosInitiator(TicketSource(principal, keytab=keytab), SERVER)()
    account = KerberosAccount("qm", sender_caller(peers.ALICE))
    acceptor = KerberosAcceptor(realm.keytab, {principal: account}.get)()
    log_on(initiator, acceptor)
    assert acceptor.identity == "qm"
