"""The unguessable part of the URLs for stream receipts ([MC-MQSRM] 2.2.5.3.4).

A receiver keeps the URL of `<sendReceiptsTo>` with its query and sends every receipt of the stream
there. The query proves that a receipt is from a machine that has received messages of the stream.
"""

from __future__ import annotations

from hashlib import blake2b
from hmac import compare_digest
from typing import TYPE_CHECKING, Final

from openmsmq.core.rows.tables import Table

if TYPE_CHECKING:
    from openmsmq.core.state import State

_SECRET_KEY: Final = b"secret"
_TOKEN_SIZE: Final = 16


def make_secret(state: State) -> None:
    """Ensure a secret for tokens: it is created once and survives every restart."""
    if not state.srmp_secret:
        state.srmp_secret = state.guids().bytes + state.guids().bytes
        state.outbox.batch.set_row(Table.SRMP, _SECRET_KEY, state.srmp_secret)
        state.srmp_secret_stored = state.outbox.number


def recover_secret(state: State, rows: dict[bytes, bytes]) -> None:
    """Restore the secret from the store."""
    state.srmp_secret = rows.get(_SECRET_KEY, b"")


def token_of(state: State, destination: str) -> str:
    """The token for receipts of messages to a destination: the same for all its streams."""
    name = destination.casefold().encode()
    return blake2b(name, digest_size=_TOKEN_SIZE, key=state.srmp_secret).hexdigest()


def is_token_of(state: State, destination: str, token: str) -> bool:
    """Whether a receipt with this token is about messages to the destination."""
    return compare_digest(token_of(state, destination).encode(), token.lower().encode())
