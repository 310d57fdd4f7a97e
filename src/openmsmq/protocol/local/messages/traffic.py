"""Requests that send, read, move and delete messages, and transactions."""

from typing import Annotated

from msgspec import Meta

from .request import Handles, LookupIds, Packets, Request


class Send(Request, frozen=True, tag=20):
    """Packets built by the client; transaction 0 is none, -1 one transaction for this request.

    Without a transaction the packets before the first that is refused are accepted. After that all
    requests of the same `chain` are refused, as they may follow before the client knows; 0 is
    none. A refusal aborts the transaction, because its commit may follow before the client knows.
    With `deliver_at`, in seconds since 1970, they appear at that time.
    """

    handle: int
    packets: Packets
    transaction: int = 0
    chain: int = 0
    deliver_at: float | None = None


class Receive(Request, frozen=True, tag=21):
    """Read up to `count` messages; waits for the first one only."""

    handle: int
    action: str = "receive"
    count: int = 1
    max_bytes: int = 4 * 1024 * 1024
    timeout: float | None = 0.0
    cursor: int = 0
    transaction: int = 0
    two_phase: bool = False


class Lookup(Request, frozen=True, tag=22):
    """Read by lookup id; `relation` is current, next, previous, first or last."""

    handle: int
    lookup_id: int
    relation: str = "current"
    receive: bool = False
    transaction: int = 0
    two_phase: bool = False


class EndReceive(Request, frozen=True, tag=23):
    """End two-phase reads: delete the messages, or give them back in place.

    `handed` are those that go back although a program has seen them: its read has failed.
    """

    handle: int
    lookup_ids: LookupIds
    delete: bool
    handed: tuple[int, ...] = ()


class Move(Request, frozen=True, tag=24):
    """Move messages by lookup id, or up to `count` from the front, to a queue opened for moving."""

    handle: int
    target: int
    lookup_ids: LookupIds | None = None
    count: int = 1000
    transaction: int = 0
    dry_run: bool = False
    # The reason of dead letters, for a move back into a dead-letter queue.
    message_class: Annotated[int, Meta(ge=0, le=0xFFFF)] = 0


class Purge(Request, frozen=True, tag=25):
    """Delete messages, in bounded steps: ask again with `upto` of the answer until it is done."""

    handle: int
    upto: int | None = None


class Hold(Request, frozen=True, tag=28):
    """Lock the free messages with these lookup ids, until EndReceive or CommitBatch."""

    handle: int
    lookup_ids: LookupIds


class PurgeMessages(Request, frozen=True, tag=29):
    """Purge the free messages with these lookup ids."""

    handle: int
    lookup_ids: LookupIds


class FindMessage(Request, frozen=True, tag=33):
    """Find the first message with an identifier, or a correlation identifier, of 20 bytes.

    With `hidden`, also one hidden from readers: locked, held or delayed.
    """

    handle: int
    identifier: Annotated[bytes, Meta(min_length=20, max_length=20)]
    correlation: bool = False
    hidden: bool = False


class Cancel(Request, frozen=True, tag=26):
    """Cancel the waiting read of another request."""

    request: int


class SendEach(Request, frozen=True, tag=27):
    """Packets built by the client, each for the handle at the same index; without a transaction.

    The messages of a handle are a chain with the number of the handle, see `Send`. The value of
    the reply is a `Refused` for each handle with a refused message; the others were accepted.
    """

    handles: Handles
    packets: Packets


class ListDelayed(Request, frozen=True, tag=34):
    """The delayed messages: of one queue, or of all without a name."""

    queue: str = ""


class DecideSetAside(Request, frozen=True, tag=35):
    """Decide about hidden messages of a queue; all of them without lookup ids.

    `action` is deliver or cancel, for delayed messages, or release, for held poison messages.
    """

    queue: str
    action: str
    lookup_ids: LookupIds | None = None


class BeginTransaction(Request, frozen=True, tag=30):
    """The id of this request names the transaction, so that others can follow at once."""


class EndTransaction(Request, frozen=True, tag=31):
    transaction: int
    commit: bool


class PropagateTransaction(Request, frozen=True, tag=32):
    """The propagation token by which queue managers of other machines take part."""

    transaction: int


class Reject(Request, frozen=True, tag=39):
    """Mark messages that a transaction received as rejected, for when it commits."""

    handle: int
    transaction: int
    lookup_ids: LookupIds


TrafficRequest = (
    Send
    | Receive
    | Lookup
    | EndReceive
    | Move
    | Purge
    | Hold
    | PurgeMessages
    | FindMessage
    | Cancel
    | ListDelayed
    | DecideSetAside
    | SendEach
    | BeginTransaction
    | EndTransaction
    | PropagateTransaction
    | Reject
)
