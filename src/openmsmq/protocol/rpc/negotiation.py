"""Presentation contexts: the interface and transfer syntax of each context id.

[MS-RPCE] 3.3.1.5.3 and 3.3.1.5.6, for the server.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.errors import ProtocolViolation
from openmsmq.wire.ndr.syntax import NDR, NDR64, TransferSyntax
from openmsmq.wire.rpc.bind import ContextElement, ResultElement
from openmsmq.wire.rpc.status import (
    ABSTRACT_SYNTAX_NOT_SUPPORTED,
    PROPOSED_TRANSFER_SYNTAXES_NOT_SUPPORTED,
    ContextResult,
)
from openmsmq.wire.rpc.syntax import (
    KEEP_CONNECTION_ON_ORPHAN,
    NULL_SYNTAX,
    SECURITY_CONTEXT_MULTIPLEXING,
    SyntaxId,
    bind_time_features,
)

from .interface import ServedInterface

FEATURES: Final = SECURITY_CONTEXT_MULTIPLEXING | KEEP_CONNECTION_ON_ORPHAN

_UNKNOWN_INTERFACE: Final = ResultElement(
    ContextResult.PROVIDER_REJECTION, ABSTRACT_SYNTAX_NOT_SUPPORTED, NULL_SYNTAX
)
_UNKNOWN_SYNTAX: Final = ResultElement(
    ContextResult.PROVIDER_REJECTION, PROPOSED_TRANSFER_SYNTAXES_NOT_SUPPORTED, NULL_SYNTAX
)
_NDR: Final = SyntaxId.of_transfer(NDR)
_NDR64: Final = SyntaxId.of_transfer(NDR64)


class PresentationContext(NamedTuple):
    """An accepted context."""

    served: ServedInterface
    abstract_syntax: SyntaxId
    syntax: TransferSyntax

    @property
    def transfer_syntax(self) -> SyntaxId:
        return _NDR if self.syntax is NDR else _NDR64


class Negotiated(NamedTuple):
    """The outcome of a bind or alter_context; features are None if the client offered none."""

    results: list[ResultElement]
    accepted: dict[int, PresentationContext]
    features: int | None


def negotiate(
    elements: Sequence[ContextElement],
    interfaces: Mapping[UUID, ServedInterface],
    contexts: Mapping[int, PresentationContext],
    *,
    may_offer_features: bool,
) -> Negotiated:
    """Answer the contexts that a client proposes.

    At most one element of an interface is accepted, one with NDR if there is one.

    Raises:
        ProtocolViolation: nothing is proposed, features are offered twice, or a context id
            gets another meaning.
    """
    if not elements:
        raise ProtocolViolation("no presentation context is proposed")
    with_ndr = {
        element.abstract_syntax for element in elements if _NDR in element.transfer_syntaxes
    }
    answered: set[SyntaxId] = set()
    outcome = Negotiated([], {}, None)
    for element in elements:
        if not element.transfer_syntaxes:
            raise ProtocolViolation(f"context {element.p_cont_id} proposes no transfer syntax")
        offered = bind_time_features(element.transfer_syntaxes[0]) if may_offer_features else None
        if offered is not None:
            if outcome.features is not None:
                raise ProtocolViolation("bind-time features are offered twice")
            outcome = outcome._replace(features=offered & FEATURES)
            ack = ResultElement(ContextResult.NEGOTIATE_ACK, offered & FEATURES, NULL_SYNTAX)
            outcome.results.append(ack)
            continue
        served = _find(element.abstract_syntax, interfaces)
        if served is None:
            outcome.results.append(_UNKNOWN_INTERFACE)
            continue
        syntax = _choose(element, prefer_ndr=element.abstract_syntax in with_ndr)
        if syntax is None or element.abstract_syntax in answered:
            outcome.results.append(_UNKNOWN_SYNTAX)
            continue
        context = PresentationContext(served, element.abstract_syntax, syntax)
        _require_same(element, context, contexts)
        answered.add(element.abstract_syntax)
        outcome.accepted[element.p_cont_id] = context
        accepted = ResultElement(ContextResult.ACCEPTANCE, 0, context.transfer_syntax)
        outcome.results.append(accepted)
    return outcome


def _find(abstract: SyntaxId, interfaces: Mapping[UUID, ServedInterface]) -> ServedInterface | None:
    served = interfaces.get(abstract.uuid)
    if served is None:
        return None
    own = served.interface
    return served if own.major == abstract.major and own.minor >= abstract.minor else None


def _choose(element: ContextElement, *, prefer_ndr: bool) -> TransferSyntax | None:
    """NDR where an element of this interface offers it, else NDR64."""
    if prefer_ndr:
        return NDR if _NDR in element.transfer_syntaxes else None
    return NDR64 if _NDR64 in element.transfer_syntaxes else None


def _require_same(
    element: ContextElement,
    context: PresentationContext,
    contexts: Mapping[int, PresentationContext],
) -> None:
    """A context id that was accepted earlier keeps its meaning, and no other syntax is offered."""
    earlier = contexts.get(element.p_cont_id)
    if earlier is None:
        return
    offered = {_NDR, _NDR64}.intersection(element.transfer_syntaxes)
    if earlier != context or offered != {earlier.transfer_syntax}:
        raise ProtocolViolation(f"context {element.p_cont_id} has another meaning")
