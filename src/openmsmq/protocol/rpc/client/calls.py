"""The client's records of an interface, and of a call without its answer."""

from typing import Any

from openmsmq.wire.codes.endpoints import RpcInterface
from openmsmq.wire.ndr import Call
from openmsmq.wire.ndr.syntax import NDR, TransferSyntax
from openmsmq.wire.rpc.header import LITTLE_ENDIAN_DREP, PduType
from openmsmq.wire.rpc.syntax import SyntaxId
from openmsmq.wire.rpc.verification_trailer import (
    CLIENT_SUPPORT_HEADER_SIGNING,
    Header2,
    VerificationTrailer,
)


class PendingCall:
    """A call without its answer."""

    __slots__ = ("call", "call_id", "interface", "request", "stub", "syntax")

    # Any: the request of any operation.
    def __init__(self, call_id: int, interface: RpcInterface, call: Call, request: Any) -> None:
        self.call_id = call_id
        self.interface = interface
        self.call = call
        self.request = request
        self.syntax = NDR
        # The part of the answer received so far.
        self.stub: bytearray | None = None


class Presentation:
    """An interface that the server accepted."""

    __slots__ = ("interface", "p_cont_id", "syntax", "verified")

    def __init__(self, p_cont_id: int, interface: SyntaxId, syntax: TransferSyntax) -> None:
        self.p_cont_id = p_cont_id
        self.interface = interface
        self.syntax = syntax
        # Whether a request with a verification trailer was sent.
        self.verified = False

    def trailer(self, pending: PendingCall, *, header_signing: bool) -> VerificationTrailer:
        """The trailer of the first request; header2 only where the header is not signed.

        [MS-RPCE] 2.2.2.13.
        """
        header2 = None
        if not header_signing:
            header2 = Header2(
                PduType.REQUEST,
                LITTLE_ENDIAN_DREP,
                pending.call_id,
                self.p_cont_id,
                pending.call.opnum,
            )
        return VerificationTrailer(
            # Regardless of the agreement of the server: it may not have seen the offer.
            bits=CLIENT_SUPPORT_HEADER_SIGNING,
            interface=self.interface,
            transfer_syntax=SyntaxId.of_transfer(self.syntax),
            header2=header2,
        )
