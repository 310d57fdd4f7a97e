"""The head of a request that is sent."""

from typing import Final

from .destination import Destination, Route

# [MC-MQSRM] 1.3.12: these fields in this order, and no others.
_HEAD: Final = (
    "POST {}{} HTTP/1.1\r\nHost: {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
    'SOAPAction: "MSMQMessage"\r\nProxy-Accept: NonInteractiveClient\r\n\r\n'
)


def write_head(
    destination: Destination, route: Route, target: str, content_type: str, length: int
) -> bytes:
    """The request line and header fields of a POST, in the form of Windows.

    Args:
        target: the path and query of the destination queue's URL.
        length: the size of the body that follows.
    """
    head = _HEAD.format(route.prefix, target, destination.authority, content_type, length)
    return head.encode("ascii")
