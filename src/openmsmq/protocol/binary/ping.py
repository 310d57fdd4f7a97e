"""Ping: would a session be accepted? ([MS-MQQB] 3.1.7.6-8)."""

from uuid import UUID

from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.packets.ping import PING_SIZE, Ping, PingFlags

_COOKIE_MASK = 0xFFFFFFFF


class PingRequests:
    """The Ping Requests that wait for an answer."""

    __slots__ = ("_cookie", "_guid", "_server_class", "_waiting")

    def __init__(self, guid: UUID, *, server_class: bool) -> None:
        self._guid = guid
        self._server_class = server_class
        # PingCookie: 0 at the start, so the first request carries 1.
        self._cookie = 0
        # The connection of each request, by cookie.
        self._waiting: dict[int, int] = {}

    def request(self, connection: int) -> bytes:
        """A Ping Request; only the answer to the last one of a connection counts."""
        self.forget(connection)
        self._cookie = self._cookie + 1 & _COOKIE_MASK
        self._waiting[self._cookie] = connection
        flags = PingFlags(0) if self._server_class else PingFlags.RC
        return Ping(flags, self._cookie, self._guid).serialize()

    def forget(self, connection: int) -> None:
        """Stop waiting for the answer of a connection."""
        for cookie, waiting in list(self._waiting.items()):
            if waiting == connection:
                del self._waiting[cookie]

    def response(self, datagram: bytes) -> tuple[int, bool] | None:
        """The connection of a Ping Response, and whether it is accepted.

        None for a datagram that is not a response, or for a response that is not awaited.
        """
        ping = parse_ping(datagram)
        if ping is None:
            return None
        connection = self._waiting.pop(ping.cookie, None)
        if connection is None:
            return None
        return connection, not ping.flags & PingFlags.RF


def answer_ping(datagram: bytes, guid: UUID, *, refuse: bool) -> bytes | None:
    """The response to a Ping Request; None for any other datagram."""
    request = parse_ping(datagram)
    if request is None:
        return None
    flags = request.flags & PingFlags.RC
    if refuse:
        flags |= PingFlags.RF
    return Ping(flags, request.cookie, guid).serialize()


def parse_ping(datagram: bytes) -> Ping | None:
    """A Ping; None for anything else, which is ignored."""
    if len(datagram) != PING_SIZE:
        return None
    try:
        return Ping.parse(datagram)[0]
    except MalformedPacket:
        return None
