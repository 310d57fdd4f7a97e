"""Outgoing queues: pause and resume, flow control, and the functions that protocols use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from openmsmq.core.events import (
    ConnectionActiveChanged,
    FlowControlChanged,
    QueuePaused,
    QueueResumed,
)
from openmsmq.core.messages.arrivals import received_until
from openmsmq.core.messages.delete_reasons import delete_messages
from openmsmq.core.messages.expiry import expire_now
from openmsmq.core.messages.moving import move_message
from openmsmq.core.messages.positions import changes, store_record
from openmsmq.core.messages.taking import show
from openmsmq.core.model.message import (
    AWAITING_FINAL_ACK,
    NEVER,
    PositionState,
    is_awaiting_final_ack,
)
from openmsmq.core.model.read import Read
from openmsmq.core.queues.access import check_machine_right
from openmsmq.core.queues.names import find_queue, parse_name
from openmsmq.core.routing.current_topology import current_topology
from openmsmq.core.rows.packets import packet_of
from openmsmq.core.rows.queue_rows import store_queue
from openmsmq.core.sites.directory_access import by_identifier
from openmsmq.core.sites.directory_events import read_directory
from openmsmq.directory.interface import DirectoryOperationResult
from openmsmq.directory.objects import ElementType, QueueManagerObject
from openmsmq.security.caller import Caller
from openmsmq.security.encryption.published_keys import CannotEncrypt, PublishedKeys
from openmsmq.wire.codes.access_rights import MachineRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.format_name import SingleFormatName, parse_format_name

from .destinations import Destination, find_destination
from .receipt_tokens import make_secret, token_of
from .sequences import end_sequence
from .states import OutgoingInput, change_state
from .stream_rules import BINARY_RULES, StreamRules
from .streams import OutgoingStreams
from .unused import forget_outgoing

if TYPE_CHECKING:
    from openmsmq.core.model.message import Message
    from openmsmq.core.model.outgoing_queue import OutgoingQueue
    from openmsmq.core.model.queue import Queue
    from openmsmq.core.state import State
    from openmsmq.core.transfer.transports import Transport
    from openmsmq.wire.codes.queue_enums import ConnectionStatus

_AVAILABLE: Final = PositionState.AVAILABLE
_DELETED: Final = PositionState.DELETED
_PUBLISHED_KEYS: Final = "public_encryption_key_list"


class Outgoing:
    """The outgoing queues of a queue manager, and whether it is online."""

    __slots__ = ("_state",)

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def queues(self) -> list[Queue]:
        return list(self._state.outgoing.values())

    def find(self, name: str) -> Queue:
        """The outgoing queue for a destination.

        Raises:
            QueueError: MQ_ERROR_QUEUE_NOT_FOUND.
        """
        queue = self._state.outgoing.get(parse_name(self._state, name).key)
        if queue is None:
            raise QueueError(
                Hresult.MQ_ERROR_QUEUE_NOT_FOUND,
                f"nothing is sent to {name}",
                cause="No message was sent there, or the destination is spelt differently.",
                remedy="Compare the destination with `openmsmq outgoing`.",
            )
        return queue

    def open_streams(
        self,
        transports: frozenset[Transport],
        resend_table: tuple[float, ...],
        rules: StreamRules = BINARY_RULES,
    ) -> OutgoingStreams:
        """The streams that a carrier of these transports sends; see `OutgoingStream`."""
        return OutgoingStreams(self._state, self, transports, resend_table, rules)

    def make_receipt_secret(self) -> int:
        """Create the secret of receipt tokens; return the batch that must be on disk before use."""
        make_secret(self._state)
        return self._state.srmp_secret_stored

    def receipt_token(self, queue: Queue) -> str:
        """The token that proves that a stream receipt is about messages of an outgoing queue."""
        return token_of(self._state, _outgoing(queue).destination_format_name)

    def local_path(self, name: SingleFormatName) -> str:
        """The path of the queue of this machine with this name; empty if there is none."""
        queue = find_queue(self._state, name)
        return queue.path if queue is not None else ""

    def pause(self, queue: Queue, *, caller: Caller) -> None:
        """Pause Queue: messages may be added, but none leaves."""
        outgoing = self._controlled(queue, caller)
        if change_state(self._state, queue, outgoing, OutgoingInput.PAUSED):
            self._state.outbox.tell(QueuePaused(queue=queue))

    def resume(self, queue: Queue, *, caller: Caller) -> None:
        """Resume Queue: waiting messages are sent in order."""
        outgoing = self._controlled(queue, caller)
        if change_state(self._state, queue, outgoing, OutgoingInput.RESUMED):
            self._state.outbox.tell(QueueResumed(queue=queue))

    def delete(self, queue: Queue, *, caller: Caller) -> None:
        """Delete an outgoing queue that is empty and that no application has open.

        Raises:
            QueueError: MQ_ERROR_ILLEGAL_OPERATION if it is in use.
        """
        self._controlled(queue, caller)
        if queue.count or queue.pending or queue.expected:
            count = queue.count + len(queue.pending) + queue.expected
            raise QueueError(
                Hresult.MQ_ERROR_ILLEGAL_OPERATION,
                f"{queue.path} holds {count} message{'s' * (count != 1)}",
                cause="Only an empty outgoing queue can be deleted.",
                remedy="Purge it or move its messages elsewhere first: `openmsmq outgoing purge`, "
                "`openmsmq outgoing move`.",
            )
        if queue.descriptors:
            raise QueueError(
                Hresult.MQ_ERROR_SHARING_VIOLATION,
                f"{queue.path} is open",
                cause="An application has it open for sending.",
                remedy="Let the application close the queue or end it.",
            )
        forget_outgoing(self._state, queue)

    def _controlled(self, queue: Queue, caller: Caller) -> OutgoingQueue:
        check_machine_right(self._state, caller, MachineRight.SET_MACHINE_PROPERTIES)
        return _outgoing(queue)

    # The route to the destination

    def change(
        self,
        queue: Queue,
        what: OutgoingInput,
        *,
        status: ConnectionStatus | None = None,
        reason: str = "",
        address: str = "",
        error: int | None = None,
    ) -> None:
        """Record the progress of the connection of an outgoing queue; see `change_state`."""
        change_state(
            self._state,
            queue,
            _outgoing(queue),
            what,
            status=status,
            reason=reason,
            address=address,
            error=error,
        )

    def published_keys(self, queue_manager: UUID) -> PublishedKeys:
        """RemoteQMPublicKey: the keys that the directory has of another queue manager.

        Raises:
            CannotEncrypt: the directory has no keys of it, or cannot be read.
        """
        read = read_directory(
            self._state,
            ElementType.QUEUE_MANAGER,
            by_identifier(queue_manager),
            (_PUBLISHED_KEYS,),
        )
        machine = read.directory_object
        if read.status is not DirectoryOperationResult.SUCCESS or not isinstance(
            machine, QueueManagerObject
        ):
            reason = read.reason or f"the directory has no queue manager {queue_manager}"
            raise CannotEncrypt(Hresult.MQ_ERROR_PUBLIC_KEY_NOT_FOUND, reason)
        return PublishedKeys.parse(machine.public_encryption_key_list)

    def find_destination(self, queue: Queue) -> Destination | None:
        """The queue manager that has the queue, and the next hops on the route.

        None when the name leads nowhere.
        """
        outgoing = _outgoing(queue)
        name = parse_format_name(outgoing.destination_format_name)
        destination = find_destination(self._state, name, queue.properties.queue_manager)
        outgoing.next_hops = destination.next_hops if destination is not None else None
        outgoing.choice = str(destination.choice or "") if destination is not None else ""
        return destination

    @property
    def topology_version(self) -> int:
        """A number that differs after each change of the directory; 0 without one."""
        current_topology(self._state)
        return self._state.topology.version if self._state.topology is not None else 0

    def set_destination(self, queue: Queue, queue_manager: UUID) -> None:
        """Record the queue manager that has the queue: only its acknowledgments are accepted."""
        outgoing = _outgoing(queue)
        if outgoing.destination != queue_manager:
            outgoing.destination = queue_manager
            store_queue(self._state, queue)
            outgoing.destination_stored = self._state.outbox.number

    @property
    def online(self) -> bool:
        """Whether this queue manager is online."""
        return self._state.local.connection_active

    def set_online(self, *, active: bool, caller: Caller) -> None:
        """Bring Online and Take Offline: whether other queue managers may deliver."""
        check_machine_right(self._state, caller, MachineRight.SET_MACHINE_PROPERTIES)
        self._state.local.connection_active = active
        self._state.outbox.tell(ConnectionActiveChanged(active=active))

    def set_throttled(self, *, throttled: bool) -> None:
        """Begin and End Flow Control: whether new messages are refused for lack of room."""
        self._state.local.throttled = throttled
        self._state.outbox.tell(FlowControlChanged(throttled=throttled))

    def peek(self, queue: Queue, *, max_count: int, max_bytes: int) -> Read | None:
        """The next messages to transfer, in queue order.

        None when there are none, or none may leave.
        """
        if not _outgoing(queue).may_transmit or not queue.lanes.count:
            return None
        messages: list[Message] = []
        for message in queue.lanes:
            max_bytes -= message.size
            if messages and (max_bytes < 0 or len(messages) >= max_count):
                break
            messages.append(message)
        return show(self._state, messages)

    def lock_front(self, queue: Queue, count: int, holder: object) -> None:
        """Hold the next messages, which are being sent, until their fate is known."""
        for message in queue.lanes.take(count, queue.total_bytes):
            queue.hold(message, holder)

    def release(self, messages: Iterable[Message]) -> None:
        """Messages in transit did not arrive: back in place, unless their time is over."""
        state = self._state
        purged: list[Message] = []
        back: list[Message] = []
        for message in messages:
            if message.state == PositionState.PURGE_PENDING:
                message.queue.forget_locked(message)
                purged.append(message)
            elif message.state == PositionState.LOCKED:
                message.queue.unlock(message)
                back.append(message)
        for message in purged:
            delete_messages(state, message.queue, [message], MessageClass.NACK_DELETED)
        expire_now(state, back)

    def await_final_ack(self, message: Message, *, expires: bool) -> None:
        """A message was delivered; its copy stays until the FinalAck reports its fate.

        With `expires` it waits only until its time to be received is over.
        """
        state = self._state
        message.make_history().awaiting_final_ack = True
        message.holder = AWAITING_FINAL_ACK
        state.totals.awaiting_final_ack += 1
        state.expiry.stop(message)
        message.expires = NEVER
        if expires:
            second = received_until(packet_of(state, message))
            if second != NEVER:
                state.expiry.start(message, second)
        store_record(state, message)

    def awaiting_final_ack(self, queue: Queue) -> list[Message]:
        """The AwaitingFinalACKTable of an outgoing queue."""
        return [message for message in queue.locked.values() if is_awaiting_final_ack(message)]

    def expire(self, messages: Iterable[Message]) -> None:
        """Expire those of the messages whose time is over."""
        expire_now(self._state, messages)

    def end_sequence(self, queue: Queue) -> None:
        """Every transactional message was acknowledged: the next one starts a new sequence."""
        end_sequence(self._state, queue)

    def finish(
        self,
        queue: Queue,
        messages: Sequence[Message],
        reason: int,
        *,
        acknowledged: bool = False,
    ) -> int:
        """Messages are delivered (ACK_REACH_QUEUE, ACK_RECEIVE) or failed (a negative class).

        Source journal, dead letters and negative acknowledgments follow; the last not if
        the destination has `acknowledged` it already. Returns the batch that stores it.
        """
        live = [message for message in messages if message.state != _DELETED]
        for message in live:
            if message.state == _AVAILABLE:
                queue.lanes.remove(message)
            else:
                queue.forget_locked(message)
        if live:
            delete_messages(self._state, queue, live, reason, acknowledged=acknowledged)
        return changes(self._state, live)

    def move(self, message: Message, target: Queue) -> Message:
        """Move Message without a transaction, such as to the system journal."""
        return move_message(self._state, message, target)

    # Packets of protocols

    @property
    def new_identifiers_depend_on(self) -> int:
        """The batch that must be on disk before new message identifiers are used; 0 for none."""
        return self._state.outbox.pending(self._state.ordinals.depends())

    def new_message_id(self) -> int:
        """A message identifier for a packet of a protocol that is not a message of a queue."""
        return self._state.ordinals.take(1, self._state.outbox) + 1 & 0xFFFFFFFF


def _outgoing(queue: Queue) -> OutgoingQueue:
    if queue.outgoing is None:
        raise QueueError(Hresult.MQ_ERROR_ILLEGAL_OPERATION, f"{queue.path} is not outgoing")
    return queue.outgoing
