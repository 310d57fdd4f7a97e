"""Outgoing queues."""

from typing import Any, Final

import msgspec

from openmsmq.admin.front_desk import Caller
from openmsmq.client import ReceivedMessage

from .message_records import MessageList
from .messages import BrowseQuery, list_source
from .queues import Counted

WORDS: Final = {
    "NONE": "The connection was begun",
    "ESTABLISH_PACKET_RECEIVED": "The other side answered",
    "READY": "Connected",
    "UNKNOWN_FAILURE": "Failed for an unknown reason",
    "PING_FAILURE": "No answer to the ping",
    "CREATE_SOCKET_FAILURE": "No socket could be made",
    "BIND_SOCKET_FAILURE": "The address to send from cannot be used",
    "CONNECT_SOCKET_FAILURE": "Nothing accepts connections there",
    "TCP_NOT_ENABLED": "TCP is not available",
    "SEND_FAILURE": "The connection broke while sending",
    "NOT_READY_FAILURE": "The other side was not ready",
    "NAME_RESOLUTION_FAILURE": "The name was not found",
    "CERTIFICATE_VALIDATION_FAILURE": "The certificate is not trusted",
    "LIMIT_REACHED": "The other side has too many connections",
    "REFUSED_BY_OTHER_SIDE": "The other side refused",
    "ROUTING_FAILURE": "There is no way there",
    "OUT_OF_MEMORY": "No memory was left",
}


class HistoryEntry(msgspec.Struct, frozen=True):
    """A step of an attempt to connect, in words as well."""

    status: str
    time: str
    error: str | None
    addresses: list[str]
    text: str = ""


class OutgoingRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An outgoing queue: its state, its messages, and why they wait."""

    destination: str
    transport: str
    state: str
    next_hop: str
    next_hops: list[str]
    messages: int
    bytes: int
    oldest_message_age_seconds: float | None
    unacknowledged: int
    awaiting_final_ack: int
    last_error: str
    reason: str
    retry_in_seconds: float | None
    history: list[HistoryEntry]


class OutgoingList(msgspec.Struct, frozen=True):
    """Every outgoing queue; `after` continues it."""

    outgoing: list[OutgoingRecord]
    after: str | None = None


def outgoing_record(info: dict[str, Any]) -> OutgoingRecord:
    """The record of an outgoing queue from that of the queue manager."""
    values = {name: info[name] for name in OutgoingRecord.__struct_fields__}
    values["history"] = [{**step, "text": step_words(step)} for step in info["history"]]
    return msgspec.convert(values, OutgoingRecord)


def step_words(step: dict[str, Any]) -> str:
    """A step of an attempt to connect in words."""
    if step["reason"]:
        return str(step["reason"])
    status = str(step["status"])
    return WORDS.get(status, status.replace("_", " ").lower().capitalize())


async def list_outgoing(caller: Caller) -> OutgoingList:
    """Every outgoing queue."""
    manager = await caller.manager()
    return OutgoingList([outgoing_record(info) for info in await manager.outgoing()])


async def show_outgoing(caller: Caller, destination: str) -> OutgoingRecord:
    """One outgoing queue."""
    manager = await caller.manager()
    return outgoing_record(await manager.outgoing_info(destination))


async def pause_outgoing(caller: Caller, destination: str) -> OutgoingRecord:
    """Pause an outgoing queue."""
    manager = await caller.manager()
    await manager.pause_outgoing(destination)
    return await show_outgoing(caller, destination)


async def resume_outgoing(caller: Caller, destination: str) -> OutgoingRecord:
    """Resume a paused outgoing queue."""
    manager = await caller.manager()
    await manager.resume_outgoing(destination)
    return await show_outgoing(caller, destination)


async def browse_outgoing(caller: Caller, destination: str, count: int) -> list[ReceivedMessage]:
    """The first messages of an outgoing queue."""
    manager = await caller.manager()
    found: list[ReceivedMessage] = []
    async with manager.open_queue(destination, "peek_admin") as source:
        async for message in source.cursor():
            found.append(message)
            if len(found) == count:
                break
    return found


async def outgoing_messages(caller: Caller, destination: str, query: BrowseQuery) -> MessageList:
    """Messages of an outgoing queue in its order, or reversed."""
    manager = await caller.manager()
    async with manager.open_queue(destination, "peek_admin") as source:
        return await list_source(caller, source, destination, query)


async def purge_outgoing(caller: Caller, destination: str) -> Counted:
    """Remove the messages of an outgoing queue for good."""
    manager = await caller.manager()
    async with manager.open_queue(destination, "receive_admin") as source:
        return Counted(await source.purge())


async def delete_outgoing(caller: Caller, destination: str) -> None:
    """Delete an outgoing queue that is empty."""
    await (await caller.manager()).delete_outgoing(destination)
