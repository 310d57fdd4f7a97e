"""Requests of the local protocol from the arguments of callers."""

from typing import TypeVar

import msgspec

from openmsmq.protocol.local.messages import Request

R = TypeVar("R", bound=Request)


def checked(request: R) -> R:
    """A request as it is, if the arguments that callers gave have the types of its fields.

    The queue manager closes the connection after a malformed request.

    Raises:
        TypeError: one has not.
    """
    try:
        msgspec.convert(msgspec.to_builtins(request, builtin_types=(bytes,)), type(request))
    except (msgspec.ValidationError, TypeError) as exc:
        reason, _, place = str(exc).partition(" - at `$[")
        index = int(place.partition("]")[0] or 0)
        # The first element is the kind of the request.
        field = request.__struct_fields__[index - 1] if index else type(request).__name__
        raise TypeError(f"{field}: {reason[0].lower()}{reason[1:]}") from None
    return request
