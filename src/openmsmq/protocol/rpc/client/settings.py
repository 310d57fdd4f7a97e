"""How a client talks, and how it proves who it is."""

from collections.abc import Callable
from dataclasses import dataclass

from openmsmq.security.mechanism import SecurityContext
from openmsmq.wire.ndr.syntax import NDR, TransferSyntax
from openmsmq.wire.rpc.status import AuthnLevel


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """How a client talks.

    Attributes:
        max_fragment: the largest fragment, both ways.
        max_response_bytes: a longer response ends the connection.
        transfer_syntaxes: what is offered for each interface, the preferred one first.
    """

    max_fragment: int = 5840
    max_response_bytes: int = 16 * 1024 * 1024
    transfer_syntaxes: tuple[TransferSyntax, ...] = (NDR,)


@dataclass(frozen=True, slots=True)
class ClientSecurity:
    """How a client proves who it is.

    Attributes:
        auth_type: the security package, as in `security.mechanism`.
        level: how calls are protected.
        initiate: makes the initiator's context.
        prepare: does beforehand what may take long, as asking a KDC for a ticket; shells with an
            event loop call it in a thread. None when there is nothing.
    """

    auth_type: int
    level: AuthnLevel
    initiate: Callable[[], SecurityContext]
    prepare: Callable[[], None] | None = None
