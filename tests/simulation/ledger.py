"""What was sent and what became of it, and the promises that must hold about it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from openmsmq.core.rows.packets import packets_of
from openmsmq.wire.codes.message_class import NEGATIVE_BIT, MessageClass
from openmsmq.wire.message.user_message import UserMessage

if TYPE_CHECKING:
    from openmsmq.core.model.queue import Queue

    from .node import Node

EXPRESS: Final = "express"
RECOVERABLE: Final = "recoverable"
TRANSACTIONAL: Final = "transactional"
# MessagePropertiesHeader.Flags.
PA, PR, NA, NR = 1, 2, 4, 8
# What a time of day loses in a float, and more.
ROUNDING_SECONDS: Final = 1e-5


class Violation(AssertionError):
    """A promise was broken."""


@dataclass(eq=False, slots=True, kw_only=True)
class Entry:
    """One message that an application sent."""

    tag: str
    kind: str
    source: Node
    destination: Node
    queue: str
    # Whether it goes over HTTP.
    web: bool = False
    # The version of its signature, and whether its body travels encrypted.
    signed: str = ""
    encrypted: bool = False
    # The number of its queue in private names, if it is sent to one.
    number: int = 0
    # Queue managers that may be on its way.
    hops: tuple[Node, ...] = ()
    # Its place among all messages in the order of the commits, and when that was.
    order: int = 0
    sent_at: float = 0.0
    time_to_reach_queue: int | None = None
    time_to_be_received: int | None = None
    negative_journaling: bool = False
    positive_journaling: bool = False
    acknowledgments: int = 0
    # When it appears at the earliest, by the clock of the world; None for at once.
    due: float | None = None
    posted_at: float = 0.0
    # The send, or the transaction of it, is on disk (or needs not be).
    sent: bool = False
    transmitted: bool = False
    # An eager node said that it came and left it out then, and nobody sent it again.
    forgotten: bool = False
    purged: bool = False
    # Its queue was deleted while it was there or on its way.
    queue_deleted: bool = False
    # Lookup id and time of each receive that counts.
    received: list[tuple[int, float]] = field(default_factory=list)
    acks: list[int] = field(default_factory=list)
    dead_letters: list[str] = field(default_factory=list)
    journaled: int = 0

    @property
    def expires(self) -> bool:
        return self.time_to_reach_queue is not None or self.time_to_be_received is not None

    @property
    def in_doubt(self) -> bool:
        """Its time may have run out at the source while the acknowledgment was lost.

        Then the source gives it up although it arrived; no protocol can exclude that. So it is
        when one copy is refused for want of a queue, and another arrives when there is one: the
        refusal may come to the source first.
        """
        refusable = self.web or self.kind == TRANSACTIONAL
        return self.transmitted and (self.expires or (refusable and self.queue_deleted))

    @property
    def may_come_late(self) -> bool:
        """Whether its source may have given it up before it arrived.

        It may still be in a check at its destination then, or in a connection that its source has
        left; messages that come over a later connection do not wait for it.
        """
        if not self.in_doubt:
            return False
        limits = (self.time_to_reach_queue, self.time_to_be_received)
        over = self.sent_at + min((x for x in limits if x is not None), default=math.inf)
        return self.destination.ways.checking or any(at >= over for _, at in self.received)

    @property
    def untold(self) -> bool:
        """Whether nobody may be told that it was not received.

        That there is no such queue is told to nobody but the source. What comes too late over HTTP
        is answered as if it had come in time.
        """
        return self.queue_deleted or (self.web and self.time_to_reach_queue is not None)

    @property
    def early(self) -> bool:
        """Whether it was received before it was to appear by a clock that nobody has set."""
        due = self.due
        if due is None or any(jump >= self.posted_at for jump in self.source.jumps):
            return False
        return any(moment < due - ROUNDING_SECONDS for _, moment in self.received)

    def crashed_since(self, time: float) -> bool:
        """Whether one of the two ends, or a hop, lost its memory since then."""
        nodes = (self.source, self.destination, *self.hops)
        return any(crash >= time for node in nodes for crash in node.crashes)

    def __str__(self) -> str:
        return (
            f"{self.kind} {self.tag} from {self.source.name} to {self.destination.name}"
            f"{' by HTTP' if self.web else ''}{' encrypted' if self.encrypted else ''}"
            f"{f' signed {self.signed}' if self.signed else ''}"
            f" {self.queue}: sent {self.sent}, transmitted {self.transmitted}, received"
            f" {len(self.received)}, acks {[MessageClass(ack).name for ack in self.acks]}"
            f" of {self.acknowledgments:04b}, dead letters {self.dead_letters}, journaled"
            f" {self.journaled}, journaling -{self.negative_journaling:d}"
            f" +{self.positive_journaling:d}, lives {self.time_to_reach_queue}"
            f" {self.time_to_be_received}, due {self.due}, purged {self.purged}, queue deleted"
            f" {self.queue_deleted}"
        )


class Ledger:
    """Every message of a run by its tag."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.order = 0
        # The routers, if there are any.
        self.hops: tuple[Node, ...] = ()

    def new(self, kind: str, source: Node, destination: Node, queue: str) -> Entry:
        tag = f"{len(self.entries) + 1:06d}"
        entry = Entry(
            tag=tag,
            kind=kind,
            source=source,
            destination=destination,
            queue=queue,
            hops=self.hops,
        )
        self.entries[tag] = entry
        return entry

    def doubt(self, destination: Node, queue: str) -> None:
        """A queue is not there: what is in it or on its way to it may be refused or deleted."""
        for entry in self.entries.values():
            if entry.destination is destination and entry.queue == queue and not entry.received:
                entry.queue_deleted = entry.purged = True

    def number(self, entries: list[Entry], now: float) -> None:
        """Messages were sent or committed, in this order."""
        for entry in entries:
            self.order += 1
            entry.order = self.order
            entry.sent_at = now

    def collect(self, nodes: list[Node], admin: str) -> None:
        """Read the administration, dead-letter and journal queues."""
        for node in nodes:
            state = node.qm.state
            for message in contents(node, state.paths[admin.casefold()]):
                self.entries[message.label].acks.append(message.message_class)
            for queue in (state.deadletter, state.xact_deadletter):
                for message in contents(node, queue):
                    self.entries[message.label].dead_letters.append(node.name)
            for message in contents(node, state.machine_journal):
                self.entries[message.label].journaled += 1

    # Promises

    def check(self) -> None:
        """Look at every message.

        Raises:
            Violation: with everything that is known of it.
        """
        for entry in self.entries.values():
            fault = _fault(entry)
            if fault:
                raise Violation(f"{fault}: {entry}")
        self._check_order()

    def _check_order(self) -> None:
        streams: dict[tuple[object, ...], list[tuple[int, int]]] = {}
        for entry in self.entries.values():
            given_up = entry.kind == RECOVERABLE and entry.may_come_late
            # Over routers plain messages may overtake each other: their ways may differ.
            loose = entry.kind == RECOVERABLE and bool(self.hops)
            # Delayed messages are in the order in which they appear.
            # So are those that come back.
            loose = loose or entry.due is not None or entry.destination.retries
            if entry.kind != EXPRESS and not given_up and not loose:
                # Each name of a queue has an outgoing queue of its own.
                ends = entry.source.name, entry.destination.name
                key: tuple[object, ...] = (*ends, entry.queue, entry.web, entry.number)
                places = streams.setdefault(key, [])
                places += [(lookup_id, entry.order) for lookup_id, _ in entry.received]
        for key, places in streams.items():
            places.sort()
            for (_, one), (_, other) in pairwise(places):
                if one > other:
                    raise Violation(f"messages {other} and {one} of {key} overtook")


def contents(node: Node, queue: Queue) -> list[UserMessage]:
    """The messages that are visible in a queue."""
    return [UserMessage(packet) for packet in packets_of(node.qm.state, list(queue.lanes))]


def _fault(entry: Entry) -> str:
    received = len(entry.received)
    if entry.early:
        return "received before its time"
    if not entry.sent:
        if received or entry.acks or entry.dead_letters or entry.journaled:
            return "a message that was never sent left traces"
        return ""
    if entry.kind == EXPRESS:
        return _express_fault(entry)
    if received > 1:
        return "received twice"
    if not received and not entry.expires and not entry.purged:
        return "lost"
    return _ack_fault(entry) or _dead_letter_fault(entry) or _journal_fault(entry)


def _express_fault(entry: Entry) -> str:
    received = entry.received
    if len(received) > 1 and not entry.crashed_since(received[0][1]):
        return "received twice"
    whole = not entry.crashed_since(entry.sent_at)
    gone = entry.expires or entry.purged or entry.forgotten
    if not received and not gone and whole:
        return "lost"
    # A read that also took recoverable messages is shown when these are gone from the disk; the
    # acknowledgment of an express one among them may be sent before, and the machine may stop.
    if MessageClass.ACK_RECEIVE in entry.acks and not received and whole:
        return "an untrue ACK_RECEIVE"
    if received and whole and _negative(entry) and not entry.in_doubt:
        return "received and negatively acknowledged"
    return ""


def _negative(entry: Entry) -> list[int]:
    return [ack for ack in entry.acks if ack & NEGATIVE_BIT]


def _ack_fault(entry: Entry) -> str:
    wanted = entry.acknowledgments
    received = len(entry.received)
    reached = entry.acks.count(MessageClass.ACK_REACH_QUEUE)
    if reached > bool(wanted & PA) or (wanted & PA and received and not reached):
        return f"{reached} ACK_REACH_QUEUE"
    if entry.acks.count(MessageClass.ACK_RECEIVE) != (received if wanted & PR else 0):
        return "ACK_RECEIVE wrong"
    negative = len(_negative(entry))
    if received and negative and not entry.in_doubt:
        return "received and negatively acknowledged"
    if negative > 1 and not entry.in_doubt:
        return "negatively acknowledged twice"
    if not received and wanted & NA and wanted & NR and not negative and not entry.untold:
        return "no negative acknowledgment"
    return ""


def _dead_letter_fault(entry: Entry) -> str:
    letters = len(entry.dead_letters)
    if not entry.negative_journaling:
        return "a dead letter that nobody wanted" if letters else ""
    if entry.in_doubt and letters <= (2 + len(entry.hops) if entry.kind == RECOVERABLE else 1):
        # A plain message makes a dead letter where its time runs out, here both at source and
        # destination and at hops, but none if it is too old when it arrives.
        return ""
    if entry.received:
        return "received and dead" if letters else ""
    if entry.kind == RECOVERABLE and entry.purged:
        return ""
    return "" if letters == 1 else f"{letters} dead letters"


def _journal_fault(entry: Entry) -> str:
    if not entry.positive_journaling:
        return "a journal copy that nobody wanted" if entry.journaled else ""
    # Over HTTP the copy is made when the message is in its queue, from which it may be purged.
    if entry.in_doubt or (not entry.received and (entry.web or entry.kind == RECOVERABLE)):
        return "" if entry.journaled <= 1 else "two journal copies"
    return "" if entry.journaled == len(entry.received) else "journal copies wrong"
