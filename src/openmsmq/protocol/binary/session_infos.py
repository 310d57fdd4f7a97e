"""Sessions as records."""

from typing import Final

from openmsmq.core.management.queue_infos import guid_text
from openmsmq.core.management.records import SessionInfo
from openmsmq.core.management.sources import Traffic
from openmsmq.wire.scalars import GUID_NULL

from .peer_connection import PeerConnection

PROTOCOL: Final = "binary"


def session_info(connection: PeerConnection) -> SessionInfo:
    """One session with another queue manager."""
    session = connection.session
    peer = session.remote_guid
    return SessionInfo(
        id=connection.number,
        protocol=PROTOCOL,
        direction="outgoing" if session.initiator else "incoming",
        peer=guid_text(peer) if peer != GUID_NULL else "",
        address=connection.address,
        state=str(session.state),
        queues=len(connection.transfers),
        unacknowledged=session.sent.unacked,
        waiting_bytes=connection.arrived.size if connection.arrived is not None else 0,
        incoming_messages=session.received.count,
        outgoing_messages=session.sent.count,
        incoming_bytes=session.received_bytes,
        outgoing_bytes=session.sent_bytes,
    )


def session_traffic(connection: PeerConnection) -> Traffic:
    """The traffic of a session."""
    session = connection.session
    return Traffic(
        connection.number,
        session.received.count,
        session.sent.count,
        session.received_bytes,
        session.sent_bytes,
    )
