"""The header of an outgoing request."""

from typing import Final

from .destination import Destination, Route

# [MC-MQSRM] 1.3.12: these fields in this order, and no others.
_START: Final = "POST {}{} HTTP/1.1\r\nHost: {}\r\nContent-Type: "
_END: Final = (
    b"%b%b\r\nContent-Length: %d\r\n"
    b'SOAPAction: "MSMQMessage"\r\nProxy-Accept: NonInteractiveClient\r\n\r\n'
)


class HeadWriter:
    """Writes the request lines and header fields of POSTs to one queue, in the form of Windows.

    Args:
        target: the path and query of the queue's URL.
    """

    __slots__ = ("_start", "target")

    def __init__(self, destination: Destination, route: Route, target: str) -> None:
        self.target = target
        self._start = _START.format(route.prefix, target, destination.authority).encode("ascii")

    def write(self, content_type: str, length: int) -> bytes:
        """The head of a request; `length` is the size of the body that follows."""
        return _END % (self._start, content_type.encode("ascii"), length)
