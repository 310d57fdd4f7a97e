"""Connections of HTTP as records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.core.management.records import SessionInfo
from openmsmq.core.management.sources import Traffic
from openmsmq.core.transfer.transports import Transport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openmsmq.protocol.http import HttpTransport
    from openmsmq.protocol.http.client_connection import ClientConnection
    from openmsmq.protocol.http.server_connection import ServerConnection

PROTOCOL: Final = "srmp"


class SrmpSessions:
    """The connections of the HTTP server, and those to other hosts; a `SessionSource`."""

    def __init__(self, http: HttpTransport) -> None:
        self._http = http

    @property
    def protocol(self) -> str:
        return PROTOCOL

    @property
    def session_count(self) -> int:
        return len(self._http.server) + len(self._http.client)

    @property
    def waiting_bytes(self) -> int:
        return self._http.server.held_bytes

    def sessions(self) -> Iterator[SessionInfo]:
        """Every connection, whatever its state."""
        yield from map(incoming_info, self._http.server.connections)
        yield from map(outgoing_info, self._http.client.connections)

    def traffic(self) -> Iterator[Traffic]:
        """The traffic of every connection."""
        for session in self.sessions():
            yield Traffic(
                session.id,
                session.incoming_messages,
                session.outgoing_messages,
                session.incoming_bytes,
                session.outgoing_bytes,
            )

    def hang_up(self, number: int) -> bool:
        """End a connection; one that is needed is opened again."""
        return self._http.server.hang_up(number) or self._http.client.hang_up(number)


def incoming_info(connection: ServerConnection) -> SessionInfo:
    """A connection opened by another host."""
    return SessionInfo(
        id=connection.number,
        protocol=PROTOCOL,
        direction="incoming",
        peer="",
        address=connection.address,
        state=connection.state.name,
        queues=0,
        unacknowledged=0,
        waiting_bytes=connection.held_bytes,
        transport=_transport(secure=connection.secure),
        incoming_messages=connection.accepted,
        incoming_bytes=connection.received_bytes,
        outgoing_bytes=connection.sent_bytes,
    )


def outgoing_info(connection: ClientConnection) -> SessionInfo:
    """A connection to another host."""
    destination = connection.destination
    return SessionInfo(
        id=connection.number,
        protocol=PROTOCOL,
        direction="outgoing",
        peer="",
        address=destination.authority,
        state=connection.state.name,
        queues=len(connection.outlets),
        unacknowledged=len(connection.sent),
        waiting_bytes=0,
        transport=_transport(secure=destination.secure),
        outgoing_messages=connection.accepted,
        incoming_bytes=connection.received_bytes,
        outgoing_bytes=connection.sent_bytes,
    )


def _transport(*, secure: bool) -> str:
    return str(Transport.HTTPS if secure else Transport.HTTP)
