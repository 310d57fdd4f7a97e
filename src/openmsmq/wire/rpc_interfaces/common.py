"""Records that several interfaces share."""

from typing import Final, NamedTuple

from openmsmq.wire.ndr import U32, Stub


class NoParameters(NamedTuple):
    """A call or an answer without parameters."""


class ResultResponse(NamedTuple):
    """A response that holds nothing but the result: an HRESULT, a status or a port."""

    result: int


NO_PARAMETERS: Final = Stub(NoParameters)
RESULT: Final = Stub(ResultResponse, U32)
