"""Backend: the way to queues."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from openmsmq.client.logic.packets import PacketBuilder
from openmsmq.client.operations import Operation
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .channel import Channel
from .handles import Handle, SendHandle
from .management import Management
from .ranges import RangeRequests
from .reads import HoldMany, LookUp, MoveStep, PurgeStep, Read

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
        names: the host names and addresses that mean it in names of queues, in lower case; empty
            where it does not tell.
        directory: whether it belongs to a directory, which then has the certificates of users.
        signature_form: how signatures are written; empty for the usual way.
        srmp_signature_form: the same for messages over HTTP and by multicast.
    """

    name: str
    guid: str
    sid: str
    version: str
    names: frozenset[str] = frozenset()
    directory: bool = False
    signature_form: str = ""
    srmp_signature_form: str = ""


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
        """Whether messages can be sent; else what opens to send always raises."""

    @property
    def largest_read(self) -> int:
        """How many messages one `Read` may ask for."""

    @property
    def window(self) -> int:
        """How many messages of a cursor may be asked for before the first has come."""

    @property
    def cursor_read(self) -> int:
        """How many of them one `Read` may ask for."""

    # Connecting

    @property
    def channel(self) -> Channel:
        """The current channel; there is one as soon as `greet` has succeeded."""

    @property
    def identity(self) -> Identity:
        """Who is at the other end; known from `greet`."""

    def new_channel(self) -> Channel:
        """What speaks over a new connection."""

    def greet(self, channel: Channel) -> Operation[None]:
        """Begin a channel; it is the current one then.

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

    def ask(self, handle: Handle, read: Read | LookUp | HoldMany) -> int:
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
        handed: Sequence[int] = (),
        answered: Callable[[Sequence[int]], None] | None = None,
    ) -> None:
        """The second phase: delete messages that are locked, or put them back; nothing waits.

        Args:
            handed: of those that are put back, the ones that the caller has seen.
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
        *,
        dry_run: bool,
        message_class: int,
    ) -> Operation[MoveStep]:
        """Move messages by lookup id, or else the first `count`.

        Args:
            dry_run: only make the checks.
            message_class: why they are dead letters, for a move into a dead-letter queue.
        """

    def reject_messages(
        self, handle: Handle, lookup_ids: list[int], transaction: int
    ) -> Operation[None]:
        """Have messages that a transaction received leave as rejected when it commits."""

    def purge_messages(self, handle: Handle, lookup_ids: list[int]) -> Operation[list[int]]:
        """Purge messages by lookup id; return the lookup ids of those that were there."""

    def find_message(
        self, handle: Handle, identifier: bytes, *, correlation: bool
    ) -> Operation[int | None]:
        """The lookup id of the first message with an identifier; None if there is none."""

    # What only a queue manager does

    def open_to_send(self, name: str, share: str) -> Operation[SendHandle]:
        """Open a queue to send to, and say what it is."""

    def open_later(self, name: str) -> SendHandle:
        """Open a queue before the next message leaves; the refusal of messages tells if not."""

    def packet_builder(self, *, transactional: bool) -> PacketBuilder:
        """What builds packets for any queue; threads may share it."""

    def send_and_wait(
        self,
        handle: SendHandle,
        packet: bytes,
        transaction: int,
        deliver_at: float | None = None,
    ) -> Operation[str]:
        """Send one packet and return the id of the message once it is accepted."""

    def begin_transaction(self) -> int:
        """Begin a transaction; what is refused in it, `end_transaction` tells."""

    def propagation_token(self, number: int) -> Operation[tuple[bytes, bytes]]:
        """The identifier of a transaction, and the token by which other machines take part."""

    def enlist(self, identifier: bytes, token: bytes, name: str) -> Operation[int]:
        """Take part in a transaction of another backend; return what stands for it here.

        Args:
            name: of the first queue that is used in it.

        Raises:
            QueueError: this backend, or the coordinator of the transaction, refuses.
            ValueError: this backend does not take part in transactions of others.
        """

    def is_broken(self, number: int) -> bool:
        """Whether a transaction may hold messages that the caller never received."""

    def end_transaction(self, number: int, *, commit: bool) -> Operation[None]:
        """Let everything in a transaction take effect, or nothing.

        Raises:
            QueueError: something in it was refused; then all of it is undone.
        """

    @property
    def management(self) -> Management:
        """Queues as a whole, and the queue manager itself."""

    @property
    def ranges(self) -> RangeRequests:
        """Ranges by arrival sequence, leases and staged batches."""


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
