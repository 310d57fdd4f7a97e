"""Reassembly of the fragments of one request or response."""


class Assembly:
    """The fragments of a call received so far; they arrive in order, one call after another.

    Attributes:
        stub: the bytes so far, in one buffer: short fragments cost no more than long ones.
    """

    __slots__ = ("auth_context_id", "call_id", "opnum", "p_cont_id", "stub")

    def __init__(
        self, call_id: int, p_cont_id: int, opnum: int = 0, auth_context_id: int = -1
    ) -> None:
        self.call_id = call_id
        self.p_cont_id = p_cont_id
        self.opnum = opnum
        # The security context of the first fragment; -1 without a verifier.
        self.auth_context_id = auth_context_id
        self.stub = bytearray()
