"""This queue manager as a hop: messages for others are stored and forwarded ([MS-MQQB] 3.1.5.8).

A hop raises RC and changes nothing else. It neither numbers forwarded messages nor acknowledges
them for the destination, keeps no copy in a journal, and deletes them when the next hop has them.
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final

from openmsmq.core.messages.arrivals import expiry, insert, traits_of
from openmsmq.core.messages.expiry import expire_now
from openmsmq.core.messages.system_messages import may_reach
from openmsmq.core.model.message import NEVER, Traits
from openmsmq.core.queues.acceptance import EnqueueStatus, check_room
from openmsmq.core.queues.connectors import connector_queue
from openmsmq.core.queues.opening import make_outgoing
from openmsmq.core.routing.current_topology import current_topology
from openmsmq.core.sites.directory_events import connected
from openmsmq.core.sites.public_queues import read_public
from openmsmq.core.transfer.incoming.addressing import Local, Nowhere
from openmsmq.core.transfer.notices.reports import send_report
from openmsmq.core.transfer.transports import Transport
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_patch import with_routing_count
from openmsmq.wire.names.format_name import PrivateFormatName, PublicFormatName
from openmsmq.wire.names.queue_address_names import format_name_of
from openmsmq.wire.scalars import guid

if TYPE_CHECKING:
    from uuid import UUID

    from openmsmq.core.model.queue import Queue
    from openmsmq.core.routing.topology import Machine, Topology
    from openmsmq.core.state import State
    from openmsmq.core.transfer.transports import Origin
    from openmsmq.wire.message.user_message_run import UserMessageRun
    from openmsmq.wire.names.format_name import FormatName

# The traits of a plain message at a hop: it is stored, and reported if its time runs out here.
_PLAIN: Final = int(
    Traits.RECOVERABLE
    | Traits.NEGATIVE_JOURNALING
    | Traits.NEGATIVE_ARRIVAL
    | Traits.NEGATIVE_RECEIVE
)
# The source of a transactional message keeps its copy, and decides by FinalAck or its own timer.
_TRANSACTIONAL: Final = int(Traits.RECOVERABLE)
# Distinguishes identifiers at a hop from those of messages that are delivered here.
_AT_HOP: Final = 0x80
_LAST_OF_GUID: Final = 15


class NotRouted(StrEnum):
    """Why a message for another queue manager is not forwarded, for logs."""

    NO_DIRECTORY = "it is for another queue manager, and there is no directory to route by"
    NO_ROUTER = "it is for another queue manager, and this one does not route between the two"
    UNKNOWN_DESTINATION = "the directory does not have the queue manager that it is for"
    UNKNOWN_SOURCE = "the directory does not have the queue manager that sent it"
    UNKNOWN_PEER = "the directory does not have the queue manager that brought it"
    NO_ROUTING_PEER = "the queue manager that brought it neither sent it nor routes"
    OTHER_ADDRESS = "the queue manager that brought it has another address in the directory"
    NO_NAME = "only private and public names are routed"
    OTHER_OWNER = "its queue is on another queue manager than it says"
    TOO_MANY_QUEUES = "too many outgoing queues"


def find_outgoing(state: State, message: UserMessage, origin: Origin) -> Queue | NotRouted | None:
    """The outgoing queue of a message for another queue manager, or why it is not forwarded.

    None while the directory cannot be read: then the message stays with its sender.

    Choice: a router is no open relay. It forwards only between queue managers in its directory,
    and only messages that one of them brings.
    """
    topology = current_topology(state)
    if topology is None:
        return NotRouted.NO_DIRECTORY if connected(state) is None else None
    return _untrusted(state, topology, message, origin) or _outgoing_queue(state, message)


def find_connector(
    state: State, message: UserMessage, origin: Origin, site: UUID
) -> Local | Nowhere:
    """The connector queue of a message for a computer of a foreign site, or why it has none."""
    topology = current_topology(state)
    assert topology is not None  # noqa: S101 - it has said which site that is
    reason = _untrusted(state, topology, message, origin)
    if reason is not None:
        return Nowhere(reason)
    return Local(connector_queue(state, site, transactional=message.transactional))


def _untrusted(
    state: State, topology: Topology, message: UserMessage, origin: Origin
) -> NotRouted | None:
    """Why a message for another queue manager is not accepted from its bringer."""
    machines = topology.machines
    here = machines.get(state.local.identifier)
    there = machines.get(guid(message.target))
    source = machines.get(message.source_queue_manager)
    peer = machines.get(origin.queue_manager)
    if there is None:
        return NotRouted.UNKNOWN_DESTINATION
    if source is None:
        return NotRouted.UNKNOWN_SOURCE
    if peer is None:
        return NotRouted.UNKNOWN_PEER
    if not is_address_of(peer, origin.address):
        return NotRouted.OTHER_ADDRESS
    if here is None or not _routes(here, source, there):
        return NotRouted.NO_ROUTER
    if peer is not source and not _brings_for(peer, source):
        return NotRouted.NO_ROUTING_PEER
    return None


def is_address_of(machine: Machine, address: str) -> bool:
    """Whether a queue manager may connect from an address: any, unless the directory has one."""
    try:
        return ip_address(machine.host) == ip_address(address)
    except ValueError:
        # A name, which only the process can resolve.
        return True


def _routes(here: Machine, source: Machine, there: Machine) -> bool:
    """Whether a queue manager forwards the messages of another.

    Choice: in- and out-routing servers do it for those that name them, marked as routing servers
    or not.
    """
    return (
        here.routing_server
        or here.identifier in there.in_routing_servers
        or here.identifier in source.out_routing_servers
    )


def _brings_for(peer: Machine, source: Machine) -> bool:
    """Whether a queue manager may bring messages of another one."""
    return peer.routing_server or peer.identifier in source.out_routing_servers


def _outgoing_queue(state: State, message: UserMessage) -> Queue | NotRouted:
    """The outgoing queue for the destination of a message, created if missing."""
    owner = guid(message.target)
    name = _destination_name(message)
    if isinstance(name, PublicFormatName):
        published = read_public(state, name)
        if published is not None and published.queue_manager != owner:
            return NotRouted.OTHER_OWNER
    elif isinstance(name, PrivateFormatName):
        name = PrivateFormatName(owner, name.number)
    else:
        # [MS-MQQB] 3.1.5.2.1: a direct name is never routed.
        return NotRouted.NO_NAME
    queue = state.outgoing.get(name.key)
    if queue is None:
        if not may_reach(state, name):
            return NotRouted.TOO_MANY_QUEUES
        queue = make_outgoing(state, name, owner=owner)
    return queue


def _destination_name(message: UserMessage) -> FormatName | None:
    destination = message.destination_queue
    try:
        return format_name_of(destination) if destination is not None else None
    except QueueError:
        return None


def hop_identifiers(run: UserMessageRun) -> list[bytes]:
    """The identifiers of messages as a hop remembers them: with the number of hops passed.

    So a copy that the last hop sends again is recognized, and a message that returns in a circle
    is a different one: it circulates until the hop limit ends it, instead of disappearing.
    """
    mark = _AT_HOP | run.head.routing_count
    return [
        b"".join(
            (
                identifier[:_LAST_OF_GUID],
                bytes((identifier[_LAST_OF_GUID] ^ mark,)),
                identifier[_LAST_OF_GUID + 1 :],
            )
        )
        for identifier in run.identifiers()
    ]


def store(state: State, run: UserMessageRun, queue: Queue, address: str) -> int:
    """Keep messages until their next hop has them; return how many of them found room.

    The caller has checked that they may pass one hop more.
    """
    count = _fitting(state, run, queue, address)
    if not count:
        return 0
    head = run.head
    traits = traits_of(head) & (_TRANSACTIONAL if head.transaction_offset else _PLAIN)
    expires = expiry(queue, head.sent_time, head.time_to_be_received, head.time_to_reach_queue)
    priority = head.priority
    packets = with_routing_count(run.packets[:count], head.routing_count + 1)
    messages = insert(state, queue, [(packet, traits, priority, expires) for packet in packets])
    state.forwarded.add(address, messages)
    state.counters.forwarded_messages.add((str(Transport.BINARY),), len(messages))
    if head.tracing_requested:
        send_report(state, UserMessage(packets[0]))
    if expires != NEVER:
        expire_now(state, messages)
    return count


def _fitting(state: State, run: UserMessageRun, queue: Queue, address: str) -> int:
    """The number of messages of a run that find room, from the first on."""
    room = state.settings.max_forwarded_bytes_per_address - state.forwarded.of(address)
    size = sum(map(len, run.packets))
    if size <= room and check_room(state, queue, size) is EnqueueStatus.OK:
        return len(run.packets)
    size = 0
    for count, packet in enumerate(run.packets):
        size += len(packet)
        if size > room or check_room(state, queue, size) is not EnqueueStatus.OK:
            return count
    return 0
