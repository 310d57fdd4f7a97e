"""Settings of a client, and its authentication."""

from collections.abc import Callable
from dataclasses import dataclass

from openmsmq.security.mechanism import SecurityContext
from openmsmq.wire.ndr.syntax import NDR, TransferSyntax
from openmsmq.wire.rpc.status import AuthnLevel


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Limits and syntaxes of a client.

    Attributes:
        max_fragment: the largest fragment, in both directions.
        max_response_bytes: a longer response ends the connection.
        transfer_syntaxes: what is offered for each interface, the preferred one first.
    """

    max_fragment: int = 5840
    max_response_bytes: int = 16 * 1024 * 1024
    transfer_syntaxes: tuple[TransferSyntax, ...] = (NDR,)


@dataclass(frozen=True, slots=True)
class ClientSecurity:
    """The authentication of a client.

    Attributes:
        auth_type: the security package, as in `security.mechanism`.
        level: the protection of calls.
        initiate: creates the initiator's context.
        prepare: slow work in advance, such as requesting a ticket from a KDC; shells with an
            event loop call it in a thread. None when there is none.
    """

    auth_type: int
    level: AuthnLevel
    initiate: Callable[[], SecurityContext]
    prepare: Callable[[], None] | None = None
