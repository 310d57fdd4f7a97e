"""Requests and replies of the local protocol, as typed msgpack arrays.

Requests carry an id and may be sent one after the other without waiting; each is answered by one
reply with the same id (a range that is streamed by several). Replies may come in another order.
"""

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from openmsmq.wire.definitions.model import Definitions

from .columns import pack_column, unpack_column

VERSION: Final = 1
# How many messages one request or reply speaks of: more are sent in several.
MAX_MESSAGES: Final = 10_000
MAX_STAGES: Final = 100_000
MAX_PROPERTIES: Final = 64

# A count over its limit is refused before anything is made of it.
Packets = Annotated[list[bytes], Meta(max_length=MAX_MESSAGES)]
Handles = Annotated[list[int], Meta(max_length=MAX_MESSAGES)]
Names = Annotated[list[str], Meta(max_length=MAX_MESSAGES)]
LookupIds = Annotated[list[int], Meta(max_length=MAX_MESSAGES)]
Words = Annotated[list[str], Meta(max_length=MAX_PROPERTIES)]
Properties = Annotated[dict[str, bool | int | str | None], Meta(max_length=MAX_PROPERTIES)]
# Numbers that are stored in 64 bits.
Number = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
Stages = Annotated[list[tuple[Number, Number]], Meta(max_length=MAX_STAGES)]


class Request(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What every request starts with."""

    id: int


class Hello(Request, frozen=True, tag=0):
    """First request of a connection; a token stands for a SID where the kernel cannot tell."""

    version: int
    token: str = ""


class GetStatus(Request, frozen=True, tag=1):
    """State, identity and totals of the queue manager."""


class CreateQueue(Request, frozen=True, tag=2):
    path: str
    properties: Properties


class DeleteQueue(Request, frozen=True, tag=3):
    path: str


class SetQueue(Request, frozen=True, tag=4):
    path: str
    properties: Properties


class ShowQueue(Request, frozen=True, tag=5):
    path: str


class ListQueues(Request, frozen=True, tag=6):
    """All queues of the queue manager that the caller may see."""

    include_system: bool = False


class Grant(Request, frozen=True, tag=7):
    """Change what a principal may do with a queue; `revoke` takes the rights away again."""

    path: str
    principal: str
    rights: Words
    deny: bool = False
    revoke: bool = False


class OpenQueue(Request, frozen=True, tag=10):
    name: str
    access: str
    share: str = "deny_none"


class CloseQueue(Request, frozen=True, tag=11):
    handle: int


class OpenCursor(Request, frozen=True, tag=12):
    handle: int


class CloseCursor(Request, frozen=True, tag=13):
    handle: int
    cursor: int


class OpenToSend(Request, frozen=True, tag=14):
    """Open queues under handles below 0 that the client chooses, so that sends can follow at once.

    A queue that cannot be opened is told by the refusal of the messages for its handle.
    """

    handles: Handles
    names: Names


class Send(Request, frozen=True, tag=20):
    """Packets built by the client; transaction 0 is none, -1 one transaction for this request.

    Without a transaction the packets before the first that is refused are accepted. After that all
    requests of the same `chain` are refused, as they may follow unseen; 0 is none. A refusal
    aborts the transaction, because its commit may follow unseen.
    """

    handle: int
    packets: Packets
    transaction: int = 0
    chain: int = 0


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
    """End two-phase reads: remove the messages for good, or give them back in place."""

    handle: int
    lookup_ids: LookupIds
    delete: bool


class Move(Request, frozen=True, tag=24):
    """Move messages by lookup id, or up to `count` from the front, to a queue opened for moving."""

    handle: int
    target: int
    lookup_ids: LookupIds | None = None
    count: int = 1000
    transaction: int = 0


class Purge(Request, frozen=True, tag=25):
    """Delete messages, in bounded steps: ask again with `upto` of the answer until it is done."""

    handle: int
    upto: int | None = None


class Cancel(Request, frozen=True, tag=26):
    """Give up the waiting read that was asked for by another request."""

    request: int


class SendEach(Request, frozen=True, tag=27):
    """Packets built by the client, each for the handle in the same place; without a transaction.

    The messages of a handle are a chain with the number of the handle, see `Send`. The value of
    the reply is a `Refused` for each handle of which one was refused; the others were accepted.
    """

    handles: Handles
    packets: Packets


class Refused(msgspec.Struct, array_like=True, frozen=True):
    """Why messages of one handle were refused, and how many of the last in the request."""

    handle: int
    messages: int
    code: int
    text: str
    cause: str
    remedy: str


class BeginTransaction(Request, frozen=True, tag=30):
    """The id of this request names the transaction, so that others can follow at once."""


class EndTransaction(Request, frozen=True, tag=31):
    transaction: int
    commit: bool


class PropagateTransaction(Request, frozen=True, tag=32):
    """The propagation token by which queue managers of other machines take part."""

    transaction: int


class RangeInfo(Request, frozen=True, tag=40):
    handle: int


class PlanRange(Request, frozen=True, tag=41):
    handle: int
    after: int
    upto: int | None = None
    max_rows: int | None = None
    max_bytes: int | None = None


class SplitRange(Request, frozen=True, tag=42):
    handle: int
    after: int
    upto: int
    parts: int


class PeekRange(Request, frozen=True, tag=43):
    """Stream the messages with `after` < sequence <= `upto` as blocks."""

    handle: int
    after: int
    upto: int
    block_rows: int = 2000
    block_bytes: int = 4 * 1024 * 1024


class AcknowledgeRange(Request, frozen=True, tag=44):
    """Receive for good what has `base` < sequence <= `upto`; cumulative and idempotent."""

    handle: int
    base: int
    upto: int


class Lease(Request, frozen=True, tag=45):
    handle: int
    consumer: str
    token: Number
    max_rows: int
    max_bytes: int


class Release(Request, frozen=True, tag=46):
    handle: int
    consumer: str
    token: Number


class Pin(Request, frozen=True, tag=47):
    """Keep a planned range from expiring until it is acknowledged or the pin times out."""

    handle: int
    base: int
    upto: int
    seconds: float = 3600.0


class Stage(Request, frozen=True, tag=50):
    """Keep packets for a batch that is published later, whole or not at all."""

    producer: str
    batch: Number
    partition: Number
    attempt: Number
    destination: str
    packets: Packets


class CommitBatch(Request, frozen=True, tag=51):
    """Publish stages in one transaction, once per producer and batch."""

    producer: str
    batch: Number
    stages: Stages


class AbortBatch(Request, frozen=True, tag=52):
    """Forget stages of a batch, or all of it."""

    producer: str
    batch: Number
    stages: Stages | None = None


class ListOutgoing(Request, frozen=True, tag=60):
    pass


class HoldOutgoing(Request, frozen=True, tag=61):
    """Pause or resume an outgoing queue."""

    destination: str
    pause: bool


class Backup(Request, frozen=True, tag=62):
    """Copy the store to a file of the queue manager's machine while it runs."""

    file: str


class MachineKeys(Request, frozen=True, tag=90):
    """The keys of the queue manager: list, replace or export them."""

    action: Literal["list", "rotate", "export"]


class ImportMachineKeys(Request, frozen=True, tag=91):
    """Put the public keys of another queue manager, an MQDSPUBLICKEYS, into the directory."""

    guid: str
    name: str
    keys: bytes


class ShowOutgoing(Request, frozen=True, tag=63):
    """One outgoing queue."""

    destination: str


class DeleteOutgoing(Request, frozen=True, tag=64):
    """Forget an outgoing queue that is empty."""

    destination: str


class ListRedirections(Request, frozen=True, tag=65):
    """Where messages over HTTP go instead."""


class ChangeRedirection(Request, frozen=True, tag=66):
    """Add a redirection, or remove it."""

    kind: str
    url: str
    to: str
    remove: bool


class ExplainRoute(Request, frozen=True, tag=67):
    """The way that a message would take."""

    destination: str


class ExportDefinitions(Request, frozen=True, tag=75):
    """Queues, permissions, paused outgoing queues and redirections as definitions."""


class ApplyDefinitions(Request, frozen=True, tag=76):
    """Make things as definitions say; `dry_run` only says what would change."""

    definitions: Definitions
    dry_run: bool
    prune: bool
    force: bool
    recreate: bool


class ListSessions(Request, frozen=True, tag=70):
    """The sessions with other queue managers."""


class ListClients(Request, frozen=True, tag=71):
    """The clients: those of the caller, or all."""


class ListTransactions(Request, frozen=True, tag=72):
    """The open transactions."""


class UserCertificates(Request, frozen=True, tag=81):
    """The certificates of the caller in the directory, after one is added or taken out."""

    add: bytes = b""
    # The MD5 of the certificate to take out.
    remove: bytes = b""


class ResolveTransaction(Request, frozen=True, tag=77):
    """End a transaction in doubt by hand; `transaction` is its GUID."""

    transaction: str
    commit: bool


class MachineRights(Request, frozen=True, tag=73):
    """Who may do what with the queue manager."""


class GrantMachine(Request, frozen=True, tag=74):
    """Change what a principal may do with the queue manager; `revoke` takes it away again."""

    principal: str
    rights: Words
    deny: bool = False
    revoke: bool = False


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """What every reply starts with."""

    id: int


class Done(Reply, frozen=True, tag=0):
    value: Any = None


class Failed(Reply, frozen=True, tag=1):
    """A refusal; `cause` and `remedy` are empty where the catalogue of the code says it.

    So many packets of a Send were `accepted` nevertheless, the first ones.
    """

    code: int
    text: str
    cause: str = ""
    remedy: str = ""
    accepted: int = 0


class Welcome(msgspec.Struct, frozen=True):
    """What answers a Hello: who the queue manager is, and who it takes the client for."""

    name: str
    guid: str
    version: str
    sid: bytes
    # The host names and addresses that mean it in names of queues, in lower case.
    names: tuple[str, ...] = ()
    # Whether it belongs to a directory, which then has the certificates of users.
    directory: bool = False


class Messages(Reply, frozen=True, tag=2):
    """Messages and what the queue manager knows of them beside the packet.

    `counters` has (index, abort count, move count, last move time) of messages that have any.
    """

    packets: list[bytes]
    lookup_ids: list[int]
    arrived_times: list[float]
    counters: list[tuple[int, int, int, float]]


class Block(Reply, frozen=True, tag=3):
    """A part of a range: one blob of packets with their ends, and columns of the record fields.

    Columns are packed, so that readers need not convert each value to a number.
    """

    last: bool
    blob: bytes
    packed_ends: bytes
    packed_lookup_ids: bytes
    packed_arrived_times: bytes
    counters: list[tuple[int, int, int, float]]

    @property
    def ends(self) -> "memoryview[int]":
        """Where each packet ends in the blob."""
        return unpack_column(self.packed_ends, "I")

    @property
    def lookup_ids(self) -> "memoryview[int]":
        """The lookup id of each message."""
        return unpack_column(self.packed_lookup_ids, "Q")

    @property
    def arrived_times(self) -> "memoryview[float]":
        """When each message arrived, in seconds since 1970."""
        return unpack_column(self.packed_arrived_times, "d")


class Part(Reply, frozen=True, tag=4):
    """A part of a list; more follow until the last one, which has no values."""

    last: bool
    values: list[Any]


def pack_block(
    request: int,
    blob: bytes,
    ends: Iterable[int],
    lookup_ids: Iterable[int],
    arrived_times: Iterable[float],
    counters: list[tuple[int, int, int, float]],
) -> Block:
    """A block that is not the last one."""
    return Block(
        request,
        False,
        blob,
        pack_column("I", ends),
        pack_column("Q", lookup_ids),
        pack_column("d", arrived_times),
        counters,
    )


def last_block(request: int) -> Block:
    """The end of a range."""
    return Block(request, True, b"", b"", b"", b"", [])


AnyRequest = (
    Hello
    | GetStatus
    | CreateQueue
    | DeleteQueue
    | SetQueue
    | ShowQueue
    | ListQueues
    | Grant
    | OpenQueue
    | CloseQueue
    | OpenCursor
    | CloseCursor
    | OpenToSend
    | Send
    | Receive
    | Lookup
    | EndReceive
    | Move
    | Purge
    | Cancel
    | SendEach
    | BeginTransaction
    | EndTransaction
    | PropagateTransaction
    | RangeInfo
    | PlanRange
    | SplitRange
    | PeekRange
    | AcknowledgeRange
    | Lease
    | Release
    | Pin
    | Stage
    | CommitBatch
    | AbortBatch
    | ListOutgoing
    | HoldOutgoing
    | ShowOutgoing
    | DeleteOutgoing
    | ExplainRoute
    | ListRedirections
    | ChangeRedirection
    | Backup
    | MachineKeys
    | ImportMachineKeys
    | ListSessions
    | ListClients
    | ListTransactions
    | UserCertificates
    | ResolveTransaction
    | MachineRights
    | GrantMachine
    | ExportDefinitions
    | ApplyDefinitions
)
AnyReply = Done | Failed | Messages | Block | Part

encode: Final = msgspec.msgpack.Encoder().encode
decode_request: Final = msgspec.msgpack.Decoder(AnyRequest).decode
decode_reply: Final = msgspec.msgpack.Decoder(AnyReply).decode
