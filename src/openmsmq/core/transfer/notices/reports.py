"""Report messages about the route of a traced message ([MS-MQQB] 3.1.5.8.9, 3.1.7.1.7)."""

from datetime import UTC, datetime
from functools import partial
from typing import Final

from openmsmq.core.messages.system_messages import send_system_message
from openmsmq.core.state import State
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import QueueAddress, public_address
from openmsmq.wire.names.queue_address_names import format_name_of
from openmsmq.wire.packets.base_header import INFINITE

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)


def send_report(state: State, message: UserMessage, next_hop: str | None = None) -> bool:
    """Report that a traced message arrived, or left for `next_hop`; return whether it was sent."""
    header = message.debug_header
    if not message.tracing_requested or header is None or header.queue_identifier is None:
        return False
    address = public_address(header.queue_identifier)
    build = partial(_build, state, message, next_hop, address)
    sent = send_system_message(state, address, build, what="report", about=message)
    return sent is not None


def _build(
    state: State, message: UserMessage, next_hop: str | None, address: QueueAddress, ordinal: int
) -> bytes:
    return build_user_message(
        destination_queue=address,
        source_queue_manager=state.manager.identifier,
        message_id=ordinal,
        sent_time=int(state.utc),
        time_to_reach_queue=INFINITE,
        message_class=MessageClass.REPORT,
        label=_label(state, message),
        body=_body(message, next_hop).encode("utf-16-le"),
    )


def _label(state: State, message: UserMessage) -> str:
    source = str(message.source_queue_manager).upper()
    at = datetime.fromtimestamp(int(state.utc), UTC)
    hour = f"{at.hour % 12 or 12:02}:{at.minute:02}:{at.second:02} {'AM' if at.hour < 12 else 'PM'}"
    date = f"{_DAYS[at.weekday()]},{_MONTHS[at.month - 1]} {at.day:02} {at.year % 100:02}"
    return (
        f"{source[:4]}:{message.message_id:08X}:{message.routing_count:02X}"
        f" received by {source} at {hour} {date}"
    )


def _body(message: UserMessage, next_hop: str | None) -> str:
    lines = [
        f"<MESSAGE ID>{message.message_id:08X}</MESSAGE ID>",
        f"<TARGET QUEUE>{destination_of(message)}</TARGET QUEUE>",
    ]
    if next_hop is not None:
        lines.append(f"<NEXT HOP>{next_hop}</NEXT HOP>")
        # The blank is as in the specification.
        lines.append(f"<HOP COUNT>{message.routing_count:02X} </HOP COUNT>")
    return "".join(f"{line}\r\n" for line in lines)


def destination_of(message: UserMessage) -> str:
    """The destination of a message, as text."""
    destination = message.destination_queue
    if destination is None:
        return ""
    try:
        return str(format_name_of(destination))
    except QueueError:
        return destination.direct or ""
