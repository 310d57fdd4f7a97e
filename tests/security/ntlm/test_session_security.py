"""Signed and sealed messages between two sides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.security.ntlm.peers import acceptor, initiator, logon

from openmsmq.security.mechanism import AuthenticationFailed
from openmsmq.security.ntlm import NtlmContext
from openmsmq.security.ntlm import flags as f
from openmsmq.security.ntlm.session_security import SessionSecurity

STRONG = f.UNICODE | f.EXTENDED_SESSIONSECURITY | f.KEY_128
FLAGS = {
    "key exchange": STRONG | f.SIGN | f.SEAL | f.KEY_EXCH,
    "no key exchange": STRONG | f.SIGN | f.SEAL,
}


def sides(flags: int) -> tuple[SessionSecurity, SessionSecurity]:
    key = bytes(range(16))
    return (
        SessionSecurity(flags, key, is_client=True),
        SessionSecurity(flags, key, is_client=False),
    )


def established(*, seal: bool = True) -> tuple[NtlmContext, NtlmContext]:
    client, server = initiator(seal=seal), acceptor()
    logon(client, server)
    return client, server


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
@given(
    messages=st.lists(
        st.tuples(st.booleans(), st.booleans(), st.binary(max_size=40), st.binary(max_size=200)),
        max_size=8,
    )
)
def test_every_message_comes_back_in_both_directions(
    flags: int, messages: list[tuple[bool, bool, bytes, bytes]]
) -> None:
    client, server = sides(flags)
    for to_server, seal, around, body in messages:
        source, target = (client, server) if to_server else (server, client)
        sent, signature = source.wrap(around, bytearray(body), around, seal=seal)
        assert (sent == body) or seal
        assert target.unwrap(around, memoryview(sent), around, signature, seal=seal) == body


def test_header_and_trailer_are_signed_with_and_without_header_signing() -> None:
    for header_signing in (False, True):
        client, server = established()
        body, signature = client.wrap(
            b"head", b"body", b"tail", seal=True, header_signing=header_signing
        )
        with pytest.raises(AuthenticationFailed, match="wrong signature"):
            server.unwrap(
                b"hEad", body, b"tail", signature, seal=True, header_signing=header_signing
            )


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("seal", [False, True])
@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
def test_a_changed_bit_anywhere_is_noticed(flags: int, *, seal: bool, part: int) -> None:
    for bit in range(128 if part == 3 else 32):
        client, server = sides(flags)
        body, signature = client.wrap(b"head", b"body", b"tail", seal=seal)
        parts = [bytearray(x) for x in (b"head", body, b"tail", signature)]
        parts[part][bit // 8] ^= 1 << bit % 8
        header, changed, trailer, forged = map(bytes, parts)
        with pytest.raises(AuthenticationFailed):
            server.unwrap(header, changed, trailer, forged, seal=seal)


def test_a_repeated_message_is_refused_and_ends_the_context() -> None:
    client, server = established()
    first = client.wrap(b"", b"one", b"", seal=True, header_signing=True)
    second = client.wrap(b"", b"two", b"", seal=True, header_signing=True)
    assert server.unwrap(b"", *first_parts(first), seal=True, header_signing=True) == b"one"
    with pytest.raises(AuthenticationFailed, match="repeated"):
        server.unwrap(b"", *first_parts(first), seal=True, header_signing=True)
    with pytest.raises(AuthenticationFailed, match="earlier message"):
        server.unwrap(b"", *first_parts(second), seal=True, header_signing=True)
    with pytest.raises(AuthenticationFailed, match="earlier message"):
        server.wrap(b"", b"three", b"", seal=True, header_signing=True)


def first_parts(message: tuple[bytes, bytes]) -> tuple[bytes, bytes, bytes]:
    """Body, trailer and signature."""
    return message[0], b"", message[1]


def test_a_missing_message_is_noticed() -> None:
    client, server = established()
    client.wrap(b"", b"one", b"", seal=True, header_signing=True)
    second = client.wrap(b"", b"two", b"", seal=True, header_signing=True)
    with pytest.raises(AuthenticationFailed, match="missing"):
        server.unwrap(b"", *first_parts(second), seal=True, header_signing=True)


def test_a_message_of_the_other_direction_is_refused() -> None:
    client, _ = established()
    message = client.wrap(b"", b"one", b"", seal=False, header_signing=True)
    with pytest.raises(AuthenticationFailed):
        client.unwrap(b"", *first_parts(message), seal=False, header_signing=True)


@pytest.mark.parametrize("size", [0, 15, 17])
def test_a_signature_of_another_size_is_refused(size: int) -> None:
    client, server = established()
    body, signature = client.wrap(b"", b"one", b"", seal=False, header_signing=True)
    with pytest.raises(AuthenticationFailed, match=f"{size} bytes"):
        server.unwrap(b"", body, b"", (signature * 2)[:size], seal=False, header_signing=True)


def test_sealing_that_was_not_agreed_on_is_refused() -> None:
    client, server = established(seal=False)
    with pytest.raises(AuthenticationFailed, match="sealing"):
        client.wrap(b"", b"one", b"", seal=True, header_signing=True)
    body, signature = client.wrap(b"", b"one", b"", seal=False, header_signing=True)
    with pytest.raises(AuthenticationFailed, match="sealing"):
        server.unwrap(b"", body, b"", signature, seal=True, header_signing=True)
    assert server.unwrap(b"", body, b"", signature, seal=False, header_signing=True) == b"one"


def test_signing_that_was_not_agreed_on_is_refused() -> None:
    client, server = sides(f.UNICODE | f.EXTENDED_SESSIONSECURITY)
    assert not client.has_integrity
    with pytest.raises(AuthenticationFailed, match="signing"):
        client.wrap(b"", b"one", b"", seal=False)
    with pytest.raises(AuthenticationFailed, match="signing"):
        server.unwrap(b"", b"one", b"", bytes(16), seal=False)


def test_nothing_is_protected_before_the_logon() -> None:
    for context in (initiator(), acceptor()):
        with pytest.raises(AuthenticationFailed, match="not complete"):
            context.wrap(b"", b"one", b"", seal=False, header_signing=True)
        with pytest.raises(AuthenticationFailed, match="not complete"):
            context.unwrap(b"", b"one", b"", bytes(16), seal=False, header_signing=True)
        with pytest.raises(AuthenticationFailed, match="not complete"):
            context.sign_mechanisms(b"")
        with pytest.raises(AuthenticationFailed, match="not complete"):
            context.verify_mechanisms(b"", bytes(16))


def test_signing_the_mechanisms_leaves_the_key_stream_to_the_first_message() -> None:
    """[MS-SPNG] 3.1.5.1, 3.2.5.1; the sequence number goes on."""
    client, server = sides(FLAGS["key exchange"])
    plain, _ = sides(FLAGS["key exchange"])
    server.verify_mechanisms(b"list", client.sign_mechanisms(b"list"))
    client.verify_mechanisms(b"list", server.sign_mechanisms(b"list"))
    sealed, signature = client.wrap(b"", b"first", b"", seal=True)
    assert signature[12:] == b"\1\0\0\0"
    assert sealed == plain.wrap(b"", b"first", b"", seal=True)[0]
    assert server.unwrap(b"", sealed, b"", signature, seal=True) == b"first"


def test_a_changed_list_of_mechanisms_is_noticed() -> None:
    client, server = established()
    with pytest.raises(AuthenticationFailed):
        server.verify_mechanisms(b"list", client.sign_mechanisms(b"tsil"))


def test_sequence_numbers_wrap_around() -> None:
    client, server = sides(FLAGS["key exchange"])
    client._outgoing._seq_num = server._incoming._seq_num = 0xFFFFFFFF
    for last in (b"\xff\xff\xff\xff", bytes(4)):
        body, signature = client.wrap(b"", b"x", b"", seal=False)
        assert signature[12:] == last
        assert server.unwrap(b"", body, b"", signature, seal=False) == b"x"
