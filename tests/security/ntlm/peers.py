"""Acceptors and initiators with fixed accounts, randomness and time."""

from collections.abc import Callable
from itertools import count
from typing import Final

from openmsmq.security.caller import sender_caller
from openmsmq.security.ntlm import (
    MachineNames,
    NtlmAcceptor,
    NtlmAccount,
    NtlmContext,
    NtlmCredentials,
    NtlmInitiator,
    nt_hash,
)
from openmsmq.security.passwords import upper
from openmsmq.wire.security.sid import SID

NOW: Final = 1_700_000_000.25
ALICE: Final = SID(5, (21, 1, 2, 3, 1000))
PASSWORD: Final = "correct horse"
NAMES: Final = MachineNames.of_computer("Server.example.org")
ACCOUNTS: Final = {
    upper(name): NtlmAccount(name, nt_hash(PASSWORD), sender_caller(ALICE))
    for name in ("Alice", "straße")
}


def find(name: str) -> NtlmAccount | None:
    return ACCOUNTS.get(upper(name))


def repeatable() -> Callable[[int], bytes]:
    """Bytes that differ from call to call."""
    calls = count(1)
    return lambda size: bytes((next(calls) * 37 + index) & 0xFF for index in range(size))


def acceptor(
    *, allow_anonymous: bool = False, channel_bindings: bytes = b"", names: MachineNames = NAMES
) -> NtlmContext:
    return NtlmContext(
        NtlmAcceptor(
            names,
            find,
            random=repeatable(),
            utc=lambda: NOW,
            allow_anonymous=allow_anonymous,
            channel_bindings=channel_bindings,
        )
    )


def initiator(
    user: str = "alice",
    password: str = PASSWORD,
    *,
    seal: bool = True,
    channel_bindings: bytes = b"",
    credentials: NtlmCredentials | None = None,
) -> NtlmContext:
    return NtlmContext(
        NtlmInitiator(
            credentials or NtlmCredentials.of_password(user, password),
            random=repeatable(),
            utc=lambda: NOW,
            seal=seal,
            target_name="RPC/server.example.org",
            workstation="CLIENT",
            channel_bindings=channel_bindings,
        )
    )


def tokens(client: NtlmContext, server: NtlmContext) -> tuple[bytes, bytes, bytes]:
    """The three messages, the last one not yet given to the server."""
    negotiate = client.step(b"")
    challenge = server.step(negotiate)
    return negotiate, challenge, client.step(challenge)


def logon(client: NtlmContext, server: NtlmContext) -> None:
    assert server.step(tokens(client, server)[2]) == b""
    assert server.complete
    assert client.complete
