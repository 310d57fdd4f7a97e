"""One session, driven by hand from the packets of the peer."""

from typing import Any
from uuid import UUID

from openmsmq.protocol.binary.events import Closed, CloseReason, MessagesAcknowledged, SessionEvent
from openmsmq.protocol.binary.session import BinarySession
from openmsmq.protocol.binary.settings import BinarySettings
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address
from openmsmq.wire.packets.connection_parameters import ConnectionParameters
from openmsmq.wire.packets.establish_connection import EstablishConnection, OperatingSystemFlags
from openmsmq.wire.packets.framer import Framer
from openmsmq.wire.packets.session_header import SessionAck, SessionHeader
from openmsmq.wire.scalars import GUID_NULL

OURS = UUID(int=0xA)
THEIRS = UUID(int=0xB)
NOW = 1000.0


def request(server: UUID = GUID_NULL, **options: Any) -> bytes:
    """EstablishConnection of an initiator with the GUID THEIRS."""
    options.setdefault("operating_system", OperatingSystemFlags.SE)
    return EstablishConnection(THEIRS, server, 12345, **options).serialize()


def response(client: UUID = OURS, server: UUID = THEIRS, **options: Any) -> bytes:
    """EstablishConnection of an acceptor with the GUID THEIRS, made at once."""
    options.setdefault("operating_system", OperatingSystemFlags.SE)
    time_stamp = options.pop("time_stamp", int(NOW * 1000))
    return EstablishConnection(client, server, time_stamp, **options).serialize()


def parameters(window: int = 64, *, recoverable: int = 500, ack: int = 20_000) -> bytes:
    return ConnectionParameters(recoverable, ack, window).serialize()


def acceptor(settings: BinarySettings | None = None, **options: Any) -> BinarySession:
    return BinarySession(settings or BinarySettings(), OURS, initiator=False, now=NOW, **options)


def initiator(settings: BinarySettings | None = None, **options: Any) -> BinarySession:
    return BinarySession(settings or BinarySettings(), OURS, initiator=True, now=NOW, **options)


def open_session(
    settings: BinarySettings | None = None, *, window: int = 64, **options: Any
) -> BinarySession:
    """An acceptor that has finished the handshake."""
    session = acceptor(settings, **options)
    session.receive_data(request() + parameters(window), now=NOW)
    session.data_to_send()
    events(session)
    return session


def events(session: BinarySession) -> list[SessionEvent]:
    found = []
    while (event := session.next_event()) is not None:
        found.append(event)
    return found


def output(session: BinarySession) -> list[bytes]:
    """The packets that the session sends, without SessionHeaders."""
    return [packet for packet, _ in Framer().feed(b"".join(session.data_to_send()))]


def acks(session: BinarySession) -> list[SessionHeader]:
    """The SessionAcks that the session sends, and nothing else."""
    return [SessionAck.parse(packet)[0].session_header for packet in output(session)]


def reason(session: BinarySession) -> CloseReason | None:
    """Why the session was closed; None while it is open."""
    for event in events(session):
        if isinstance(event, Closed):
            return event.reason
    return None


def acknowledged(session: BinarySession) -> MessagesAcknowledged:
    """The only event, which is an acknowledgment."""
    (event,) = events(session)
    assert isinstance(event, MessagesAcknowledged)
    return event


def message(number: int = 1, *, recoverable: bool = False, **options: Any) -> bytes:
    options.setdefault("destination_queue", direct_address("TCP:10.0.0.2\\private$\\orders"))
    return build_user_message(
        body=b"body", message_id=number, delivery_mode=int(recoverable), **options
    )


def header(
    ack: int = 0,
    first: int = 0,
    flags: int = 0,
    sent: int = 0,
    sent_recoverable: int = 0,
    window: int = 64,
) -> SessionHeader:
    return SessionHeader(ack, first, flags, sent, sent_recoverable, window)


def ack_packet(*values: int, **named: int) -> bytes:
    return SessionAck(header(*values, **named)).serialize()


def deliver(
    session: BinarySession, count: int, *, recoverable: bool = False, now: float = NOW
) -> None:
    """The peer sends messages, which are durable at once."""
    for number in range(count):
        session.receive_data(message(number, recoverable=recoverable), now=now)
    events(session)
    release_all(session, now=now)


def release_all(session: BinarySession, *, now: float = NOW) -> None:
    """Everything that arrived is on disk."""
    session.received.release(session.received.count, session.received.recoverable)
    session.acknowledge(now=now)


def settle_all(session: BinarySession, *, now: float = NOW) -> None:
    """What was received is durable at once."""
    for event in events(session):
        if isinstance(event, Closed):
            session._events.append(event)
            return
    release_all(session, now=now)
