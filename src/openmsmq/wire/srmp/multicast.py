"""SRMP messages over PGM: written as whole requests, and cut out of the data of a source.

[MC-MQSRM] 4.5: a message over PGM is the request of a POST. It is not known whether Windows sends
one message in one APDU: `MulticastRequests` lets messages begin and end anywhere.
"""

from typing import Final

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.message.user_message import UserMessage

from .addresses import PREFIX
from .head import cut_head, write_head
from .sending import request_from_packet

_MULTICAST: Final = "MULTICAST="
_START: Final = b"POST "


def multicast_request(message: UserMessage, name: str) -> bytes:
    """The whole request of a message to a multicast address.

    Args:
        name: the format name, `MULTICAST=address:port`.

    Raises:
        ValueError: the message cannot be sent by SRMP; the text says why.
    """
    content = request_from_packet(message, number=message.message_id, to=PREFIX + name)
    authority = name.removeprefix(_MULTICAST)
    return write_head(authority, authority, content) + content.data


class MulticastRequests:
    """The requests in the data of one source.

    After a loss or a fault, what follows is skipped up to the next APDU that begins a request.
    """

    __slots__ = ("_pending",)

    def __init__(self) -> None:
        self._pending = b""

    @property
    def pending_bytes(self) -> int:
        """Bytes of a request that is not whole yet."""
        return len(self._pending)

    def feed(self, apdu: bytes) -> list[bytes]:
        """Take an APDU; return the requests that are whole now.

        Raises:
            MalformedPacket: it does not begin or continue a request; everything is forgotten.
        """
        if not self._pending and not apdu.startswith(_START):
            raise MalformedPacket("Head", 0, "the data does not begin with an HTTP request")
        data = self._pending + apdu
        self._pending = b""
        requests: list[bytes] = []
        while data:
            try:
                head = cut_head(data)
            except MalformedPacket:
                # What is whole already counts; the rest is as good as lost.
                if requests:
                    return requests
                raise
            if head is None or len(data) < head.size + head.content_length:
                self._pending = data
                break
            size = head.size + head.content_length
            requests.append(data[:size])
            data = data[size:]
        return requests

    def reset(self) -> None:
        """Data was lost: what is not whole never will be."""
        self._pending = b""
