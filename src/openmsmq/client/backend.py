"""The seam between what a client does and how it gets to the queues.

`client/logic` (queues, cursors, iteration, transactions) knows queues by a `Backend` only, and the
drivers (`client/blocking`, `client/asynchronous`) move the bytes of its `Channel`. `client/local`
is the backend of the local protocol, for a queue manager of ours. A backend that reads queues of
any MSMQ server over RPC implements the same interface; what such a server cannot do raises
`not_available`.

How to write a backend
    1. A `Channel` is one connection as bytes in and bytes out, without a socket. Requests are
       numbered from 1. A driver calls `receive_data` (or `space` and `filled`) with what came,
       sends `data_to_send`, and calls `lose` when the connection is gone. Everything that answers
       a request is kept until `take` is called with its number.
    2. Methods of `Backend` that return an `Operation` are generators. They post requests on the
       channel and `yield Wait(number)`; the driver sends what was posted, waits, and feeds in what
       `Channel.take(number)` gives. The others only post: nothing waits for them, and what is
       refused of them is raised by the next `check` or `flush`.
    3. `connect` makes the backend in `client/connecting.py`, by the kind of the address. For every
       connection the driver asks for a `new_channel` and runs `greet`.

All calls come from one thread at a time; a blocking driver holds a lock while an operation runs
between two waits. A backend never blocks, sleeps or reads a clock.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from openmsmq.protocol.local.messages import Block
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.names.queue_address import QueueAddress

from .address import Address
from .errors import ConnectionLost
from .logic.packets import PacketBuilder, Sender
from .message import Message
from .operations import Operation, Wait
from .properties import Info
from .received_message import ReceivedMessage

__all__ = ["Block"]  # One format of ranges for every backend: a blob of packets with columns.

# How long a queue manager that works may take to answer, beyond the time that a read may wait.
GRACE_SECONDS: Final = 30.0
# About how many bytes of messages one read brings at most.
READ_BYTES: Final = 1024 * 1024
# Instead of the number of a transaction: one of its own for a single send.
SINGLE: Final = -1


@dataclass(frozen=True, slots=True)
class Identity:
    """What a queue manager tells at the start of a connection.

    Attributes:
        name: its computer name.
        guid: its GUID, as messages that it sent have it in their ids.
        sid: who it takes the client for, such as S-1-22-1-1000 for user 1000.
        version: of its program.
    """

    name: str
    guid: str
    sid: str
    version: str


class Channel(Protocol):
    """One connection as bytes in and bytes out, without a socket.

    Attributes:
        fault: why the connection is gone; None while it is there.
        fate_unknown: whether messages were under way when it was lost.
        told: whether the caller knows of that.
    """

    fault: ConnectionLost | None
    fate_unknown: bool
    told: bool

    @property
    def description(self) -> str:
        """Where the queue manager is, for error texts."""

    @property
    def held_bytes(self) -> int:
        """What came and was not taken; above a limit the driver reads no more for a while."""

    @property
    def has_data(self) -> bool:
        """Whether something was posted since the last `data_to_send`."""

    def data_to_send(self) -> bytearray:
        """Everything that was posted since the last call."""

    def space(self) -> memoryview:
        """Where to read the next bytes to."""

    def filled(self, count: int) -> list[int]:
        """So many bytes were read to `space`; else like `receive_data`."""

    def receive_data(self, data: bytes) -> list[int]:
        """Bytes came; return the requests that they answer.

        Raises:
            ConnectionLost: the other side does not speak the protocol; the channel is over.
        """

    def is_over(self, wait: Wait) -> bool:
        """Whether what an operation waits for has come."""

    def take(self, request: int) -> object | None:
        """The next reply to a request, if it is here."""

    def lose(self, text: str) -> ConnectionLost:
        """The connection is gone; the first reason counts, and is returned."""

    def close_sends(self) -> None:
        """Post the messages that wait for others to leave with, if there are any."""


class ChainBroken(Exception):
    """A message of a chain was refused; the others are not sent."""


class SendChannel(Channel, Protocol):
    """A channel that also sends messages, many to a request, without waiting for each.

    Drivers use it directly, without an operation for each message: this is the way of every message
    that is sent, and a step more costs as much as all the rest.
    """

    @property
    def refused(self) -> set[int]:
        """Handles for which a send was refused: the queue may be gone, another open tells."""

    def new_chain(self) -> int:
        """A number for the messages of one call, of which none is accepted after a refused one."""

    def add_packet(self, handle: int, transaction: int, packet: bytes, chain: int = 0) -> bool:
        """Send a packet with others; say whether enough came together for a request.

        Raises:
            QueueError: one that was sent before was refused; this one is not sent.
            ChainBroken: the same for a chain of its own; `settle` tells more.
        """

    def check(self, transaction: int = 0) -> None:
        """Raise what was refused in the background in a transaction; 0 is outside of all."""

    def make_room(self) -> Operation[None]:
        """Wait until what is on its way is within bounds."""

    def settle(self, chain: int, count: int) -> Operation[int]:
        """Wait until the `count` messages of a chain are accepted; return how many.

        Raises:
            QueueError: one was refused; it says how many were accepted.
        """

    def disown(self, chain: int) -> None:
        """The call of a chain has ended too early: any other may tell what was refused."""


class Handle:
    """A queue that is open, in one channel.

    Args:
        number: what stands for it in requests, in this channel only.
        format_name: the name that the other side knows the queue by.
    """

    __slots__ = ("channel", "format_name", "number")

    def __init__(self, channel: Channel, number: int, format_name: str) -> None:
        self.channel: Final = channel
        self.number: Final = number
        self.format_name: Final = format_name


class SendHandle:
    """A queue that is open to send to, in one channel.

    Args:
        transactional: whether it takes transactional messages; None when only the machine that it
            is on knows.
    """

    __slots__ = (
        "_destination",
        "_sender",
        "build",
        "build_transactional",
        "channel",
        "format_name",
        "number",
        "transactional",
    )

    def __init__(
        self,
        channel: SendChannel,
        number: int,
        format_name: str,
        *,
        sender: Sender,
        destination: QueueAddress,
        transactional: bool | None,
    ) -> None:
        self.channel: Final = channel
        self.number: Final = number
        self.format_name: Final = format_name
        self._destination = destination
        self.transactional: Final = transactional
        # From a message to its packet, outside and in a transaction.
        self._sender = sender
        self.build: Final = self.packet_builder(transactional=False).build
        self.build_transactional: Final = self.packet_builder(transactional=True).build

    def packet_builder(self, *, transactional: bool) -> PacketBuilder:
        """A new builder of packets for this queue."""
        return PacketBuilder(self._sender, self._destination, transactional=transactional)

    def builder(self, transaction: int) -> Callable[[Message], bytes]:
        """What builds packets for this queue."""
        return self.build_transactional if transaction else self.build


class Read(NamedTuple):
    """A read of the first messages of a queue, or of the next one of a cursor.

    Attributes:
        action: `receive`, `peek`, or `peek_next` of a cursor.
        limit: how many messages at most; it waits for the first one only.
        timeout: seconds to wait for it; None for ever.
        cursor: from `open_cursor`; 0 for none.
        transaction: from `begin_transaction`; 0 for none.
        two_phase: the messages stay locked in the queue until `end`, or until the handle or the
            connection is closed, which puts them back in place.
    """

    action: str
    limit: int = 1
    timeout: float | None = 0.0
    cursor: int = 0
    transaction: int = 0
    two_phase: bool = False


class LookUp(NamedTuple):
    """A read by lookup id, which never waits.

    Attributes:
        relation: `current`, or the `next` or `previous` one, or `first` or `last`.
        receive: take the message instead of looking at it.
        transaction, two_phase: as for `Read`.
    """

    lookup_id: int
    relation: str
    receive: bool
    transaction: int = 0
    two_phase: bool = False


class PurgeStep(NamedTuple):
    """One step of a purge: how many messages it deleted, up to where, and whether it was the last.

    `upto` goes into the next step, so that messages which come meanwhile stay.
    """

    purged: int
    upto: int | None
    done: bool


class Backend(Protocol):
    """The way to queues, over one channel at a time; after a loss another channel takes over.

    Handles, cursors, transactions and requests belong to the channel in which they were made.
    Refusals are `QueueError`, with the code that the other side gave.
    """

    @property
    def clock(self) -> Callable[[], float]:
        """Monotonic time in seconds."""

    @property
    def reconnects(self) -> bool:
        """Whether the driver connects again when a channel is lost."""

    @property
    def can_send(self) -> bool:
        """Whether messages can be sent; else `open_to_send` always raises."""

    @property
    def largest_read(self) -> int:
        """How many messages one `Read` may ask for."""

    @property
    def window(self) -> int:
        """How many reads of a cursor may be asked for before the first is answered."""

    # Connecting

    @property
    def channel(self) -> Channel:
        """The current channel; there is one as soon as `greet` has succeeded."""

    @property
    def identity(self) -> Identity:
        """Who is at the other end; known from `greet`."""

    def new_channel(self) -> Channel:
        """What speaks over a new connection."""

    def greet(self, channel: Channel) -> Operation[Address | None]:
        """Begin a channel; it is the current one then.

        Returns None, or another address to connect to instead of this one: the driver hangs up,
        and greets that with a new channel.

        Raises:
            ConnectionLost: the other side does not let this client in.
        """

    def tell_loss(self) -> None:
        """Say once that messages may have been lost with a connection, also with an earlier one.

        Raises:
            ConnectionLost: they may, and no call has said so yet.
        """

    def check(self, transaction: int = 0) -> None:
        """Raise what was refused of what nothing waits for; 0 is outside of transactions."""

    def flush(self) -> Operation[None]:
        """Wait until everything that nothing waits for is answered; then `check`."""

    # Queues

    def open(self, name: str, access: str, share: str) -> Operation[Handle]:
        """Open a queue by path name or format name, to read or to move messages to it.

        Args:
            access: `receive`, `peek`, `move`, or `receive_admin` and `peek_admin` for outgoing
                queues.
            share: `deny_none`, or `deny_receive` to keep other readers out.
        """

    def close(self, handles: Iterable[Handle | SendHandle]) -> Operation[None]:
        """Close handles; what was read by them and not ended goes back in place."""

    def close_later(self, handle: Handle | SendHandle) -> None:
        """Close a handle after everything that was asked for; nothing waits for it."""

    # Reading

    def ask(self, handle: Handle, read: Read | LookUp) -> int:
        """Ask for messages and do not wait; return the number of the request.

        Other requests are answered while a read waits for messages.

        Raises:
            TypeError: a value has another type than the request takes.
        """

    def answer(
        self, request: int, seconds: float | None = None
    ) -> Operation[list[ReceivedMessage] | None]:
        """The messages that a request asked for; None when no answer came in so many seconds.

        After None the request is still under way: ask again, `cancel` or `withdraw` it.

        Raises:
            QueueError: it was refused, or ended: MQ_ERROR_IO_TIMEOUT (as `ReceiveTimeout`),
                MQ_ERROR_OPERATION_CANCELLED, MQ_ERROR_MESSAGE_NOT_FOUND.
        """

    def cancel(self, request: int) -> None:
        """End a read that waits; `answer` tells whether messages were faster."""

    def withdraw(self, request: int, handle: Handle | None) -> None:
        """Give up a read; messages that it brings nevertheless go back in place.

        Args:
            handle: of a read in two phases; None for a peek, and in a transaction.
        """

    def end(
        self,
        handle: Handle,
        lookup_ids: Sequence[int],
        *,
        delete: bool,
        answered: Callable[[Sequence[int]], None] | None = None,
    ) -> None:
        """The second phase: delete messages that are locked, or put them back; nothing waits.

        Args:
            answered: called with lookup ids when their end was accepted or refused.
        """

    def open_cursor(self, handle: Handle) -> Operation[int]:
        """A cursor before the first message; return its number."""

    def close_cursor(self, handle: Handle, cursor: int) -> None:
        """Forget a cursor; nothing waits for it."""

    # Managing messages

    def purge(self, handle: Handle, upto: int | None) -> Operation[PurgeStep]:
        """Delete messages, some at a time: those that are there now, up to an arrival sequence."""

    def move_messages(
        self,
        source: Handle,
        target: Handle,
        lookup_ids: list[int] | None,
        count: int,
        transaction: int,
    ) -> Operation[int]:
        """Move messages by lookup id, or else the first `count`; return how many."""

    # What only a queue manager does

    def open_to_send(self, name: str, share: str) -> Operation[SendHandle]:
        """Open a queue to send to."""

    def send_and_wait(self, handle: SendHandle, packet: bytes, transaction: int) -> Operation[str]:
        """Send one packet and return the id of the message once it is accepted."""

    def begin_transaction(self) -> int:
        """Begin a transaction; what is refused in it, `end_transaction` tells."""

    def end_transaction(self, number: int, *, commit: bool) -> Operation[None]:
        """Let everything in a transaction take effect, or nothing.

        Raises:
            QueueError: something in it was refused; then all of it is undone.
        """

    @property
    def management(self) -> "Management":
        """Queues as a whole, and the queue manager itself."""

    @property
    def ranges(self) -> "RangeRequests":
        """Ranges by arrival sequence, leases and staged batches."""


class InfoStream(Protocol):
    """A list that comes in parts; the first part is asked for when it is wanted."""

    def next_part(self) -> Operation[list[Info] | None]:
        """The next entries; None after the last."""

    def whole(self) -> Operation[list[Info]]:
        """All entries."""

    def close(self) -> None:
        """Drop the parts that have not come yet."""


class Management(Protocol):
    """What a client asks a queue manager about queues as a whole and about itself."""

    def create_queue(self, path: str, properties: Info) -> Operation[None]:
        """Create a queue."""

    def delete_queue(self, path: str) -> Operation[None]:
        """Delete a queue with everything in it."""

    def set_queue(self, path: str, properties: Info) -> Operation[None]:
        """Change properties of a queue."""

    def queue_info(self, path: str) -> Operation[Info]:
        """Properties, counts and permissions of one queue."""

    def queue_infos(self, *, include_system: bool) -> "InfoStream":
        """Properties and counts of all queues."""

    def grant(
        self, path: str, principal: str, rights: Iterable[str], *, deny: bool, revoke: bool
    ) -> Operation[list[Info]]:
        """Change what a principal may do with a queue; return what is in force."""

    def status(self) -> Operation[Info]:
        """State, identity, endpoints and totals."""

    def outgoing_infos(self) -> "InfoStream":
        """Outgoing queues."""

    def session_infos(self) -> "InfoStream":
        """Sessions with other queue managers."""

    def client_infos(self) -> "InfoStream":
        """Clients of the queue manager."""

    def transaction_infos(self) -> "InfoStream":
        """Open transactions."""

    def machine_rights(self) -> Operation[list[Info]]:
        """Who may do what with the queue manager."""

    def grant_machine(
        self, principal: str, rights: Iterable[str], *, deny: bool, revoke: bool
    ) -> Operation[list[Info]]:
        """Change what a principal may do with the queue manager; return what is in force."""

    def hold_outgoing(self, destination: str, *, pause: bool) -> Operation[Info]:
        """Pause or resume an outgoing queue."""

    def outgoing_info(self, destination: str) -> Operation[Info]:
        """One outgoing queue."""

    def delete_outgoing(self, destination: str) -> Operation[None]:
        """Forget an outgoing queue that is empty."""

    def backup(self, file: str) -> Operation[Info]:
        """Copy the store to a file of the queue manager's machine."""


class RangeRequests(Protocol):
    """What pipelines ask for: ranges by arrival sequence, leases, batches that are staged."""

    def info(self, handle: Handle) -> Operation[Info]:
        """First, stable and last sequence, and who holds locks."""

    def plan(
        self,
        handle: Handle,
        after: int,
        upto: int | None,
        max_rows: int | None,
        max_bytes: int | None,
    ) -> Operation[Info]:
        """The next range after `after`, below the stable mark and within the limits."""

    def split(self, handle: Handle, after: int, upto: int, parts: int) -> Operation[list[int]]:
        """Ends of consecutive ranges of about equal bytes."""

    def peek(self, handle: Handle, after: int, upto: int, rows: int, size: int) -> int:
        """Ask for the blocks of a range, of so many rows and bytes; return the request."""

    def next_block(self, request: int) -> Operation[Block | None]:
        """The next block of a range; None after the last one."""

    def drop(self, request: int) -> None:
        """Drop the blocks that still come."""

    def acknowledge(self, handle: Handle, base: int, upto: int) -> Operation[Info]:
        """Receive a range for good, some messages at a time."""

    def lease(
        self, handle: Handle, consumer: str, token: int, max_rows: int, max_bytes: int
    ) -> Operation[Info]:
        """Move the next messages into the subqueue of a consumer."""

    def release(self, handle: Handle, consumer: str, token: int) -> Operation[Info]:
        """Move what a consumer has back, some messages at a time."""

    def pin(self, handle: Handle, base: int, upto: int, seconds: float) -> Operation[None]:
        """Keep a range from expiring."""

    def stage(
        self,
        producer: str,
        batch: int,
        partition: int,
        attempt: int,
        destination: str,
        packets: list[bytes],
    ) -> Operation[None]:
        """Keep packets for a batch; return when there is room for more."""

    def commit(self, producer: str, batch: int, stages: list[tuple[int, int]]) -> Operation[Info]:
        """Publish a batch."""

    def abort(
        self, producer: str, batch: int, stages: list[tuple[int, int]] | None
    ) -> Operation[None]:
        """Forget the named stages of a batch, or all."""


def not_available(what: str, description: str) -> QueueError:
    """Why a backend that only reads does not do something.

    Args:
        what: such as "messages cannot be sent".
        description: where the queues are.
    """
    return QueueError(
        Hresult.MQ_ERROR_UNSUPPORTED_OPERATION,
        f"{description}: {what} over remote read",
        cause="Remote read gives access to the messages of queues, and to nothing else.",
        remedy="Connect to a queue manager, which sends to other machines and runs transactions.",
    )
