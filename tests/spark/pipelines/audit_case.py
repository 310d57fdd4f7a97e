"""Sent messages of every fate, and what tells of it."""

from typing import Final
from uuid import UUID

from tests.spark.pipelines.rows import (
    NOW,
    SENDER,
    Row,
    acknowledgment,
    found,
    message,
)

from openmsmq.spark.pipelines.audit.verdict import State
from openmsmq.wire.codes.message_class import MessageClass
from openmsmq.wire.packets.order_ack import ACK_LABEL, FinalAck
from openmsmq.wire.scalars import TxSequenceID

ARRIVAL: Final = MessageClass.ACK_REACH_QUEUE
RECEIVE: Final = MessageClass.ACK_RECEIVE
SHORT: Final[Row] = {"time_to_reach_queue": 60, "time_to_be_received": 3600}
ONE: Final[Row] = {"transactional": True, "first_in_transaction": True, "last_in_transaction": True}


def several(transaction: int, *, first: bool = False, last: bool = False) -> Row:
    return {
        "transactional": True,
        "transaction_id": rf"{SENDER}\{transaction}",
        "first_in_transaction": first,
        "last_in_transaction": last,
    }


def final_ack(ordinal: int) -> Row:
    source = UUID(SENDER.strip("{}"))
    body = FinalAck(TxSequenceID(0, 1), 7, 6, source, ordinal).serialize()
    row = acknowledgment(ordinal, RECEIVE)
    return row | {"correlation_id": None, "label": ACK_LABEL, "body": body, "queue": "order_queue$"}


def captured(row: Row) -> Row:
    """The same as a packet that was seen on its way."""
    return row | {"queue": None, "queue_kind": None, "seq": None, "arrived_time": None}


# What was sent, what tells of it, and the state that follows.
CASES: Final[dict[str, tuple[Row, list[Row], State]]] = {
    "acknowledged receipt": (
        message(1, acknowledge=3),
        [acknowledgment(1, ARRIVAL), acknowledgment(1, RECEIVE)],
        State.READ,
    ),
    "target journal": (message(2), [found(2, "journal")], State.READ),
    "final acknowledgment": (message(3, **ONE), [final_ack(3)], State.READ),
    "arrival only": (message(4, acknowledge=1), [acknowledgment(4, ARRIVAL)], State.ARRIVED_UNREAD),
    "in its queue": (message(5), [found(5)], State.ARRIVED_UNREAD),
    "did not arrive in time": (
        message(6, acknowledge=5, **SHORT),
        [acknowledgment(6, MessageClass.NACK_REACH_QUEUE_TIMEOUT)],
        State.EXPIRED_IN_TRANSIT,
    ),
    "a dead letter says when": (
        message(7, **SHORT),
        [found(7, "deadletter", **{"class": MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER})],
        State.EXPIRED_IN_TRANSIT,
    ),
    "arrived and expired": (
        message(8, acknowledge=0xD, **SHORT),
        [acknowledgment(8, ARRIVAL), acknowledgment(8, MessageClass.NACK_RECEIVE_TIMEOUT)],
        State.EXPIRED_UNREAD,
    ),
    "no such queue": (
        message(9, acknowledge=5),
        [
            acknowledgment(9, MessageClass.NACK_BAD_DST_Q),
            found(9, "xact_deadletter", **{"class": MessageClass.NACK_BAD_DST_Q}),
        ],
        State.REJECTED,
    ),
    "purged": (
        message(10, acknowledge=0xD),
        [acknowledgment(10, ARRIVAL), acknowledgment(10, MessageClass.NACK_Q_PURGED)],
        State.REJECTED,
    ),
    "only a dead letter": (
        message(11),
        [found(11, "deadletter", **{"class": MessageClass.NACK_ACCESS_DENIED})],
        State.DEAD_LETTERED,
    ),
    "sent, as only its dead letter shows": (
        found(26, "deadletter", **{"class": MessageClass.NACK_DELETED}),
        [found(26, "deadletter", **{"class": MessageClass.NACK_DELETED})],
        State.DEAD_LETTERED,
    ),
    "a dead letter without a reason": (message(12), [found(12, "deadletter")], State.DEAD_LETTERED),
    "read and dead": (
        message(13, acknowledge=3),
        [
            acknowledgment(13, RECEIVE),
            found(13, "xact_deadletter", **{"class": MessageClass.NACK_RECEIVE_TIMEOUT_AT_SENDER}),
        ],
        State.IN_DOUBT,
    ),
    "arrived and refused": (
        message(14, acknowledge=5),
        [acknowledgment(14, ARRIVAL), acknowledgment(14, MessageClass.NACK_ACCESS_DENIED)],
        State.IN_DOUBT,
    ),
    "in an outgoing queue": (message(15), [found(15, "outgoing")], State.IN_DOUBT),
    "asked, without a limit": (message(16, acknowledge=1), [], State.IN_DOUBT),
    "asked, in time": (
        message(17, acknowledge=1, time_to_reach_queue=10_000_000_000),
        [],
        State.IN_DOUBT,
    ),
    "asked, too late": (message(18, acknowledge=1, **SHORT), [], State.NO_EVIDENCE),
    "asked for failures only": (message(19, acknowledge=4, **SHORT), [], State.NO_EVIDENCE),
    "only in the journal of the sender": (
        message(25),
        [message(25), message(25, queue=r"DIRECT=OS:alpha\system$;JOURNAL", seq=7)],
        State.NO_EVIDENCE,
    ),
    "asked for nothing": (message(20, **SHORT), [], State.NO_EVIDENCE),
    "twice in its queue": (message(21), [found(21), found(21, seq=900)], State.DUPLICATE),
    "read twice": (
        message(22, acknowledge=2),
        [acknowledgment(22, RECEIVE), acknowledgment(22, RECEIVE, number=1)],
        State.DUPLICATE,
    ),
    # Each queue has a copy of its own; some queue managers give them all one id.
    "to two queues": (
        message(23, acknowledge=2),
        [
            acknowledgment(23, RECEIVE),
            acknowledgment(23, RECEIVE, number=1, destination=r"DIRECT=OS:beta\bills"),
        ],
        State.READ,
    ),
    "seen on its way only": (message(27), [captured(message(27))], State.NO_EVIDENCE),
    "seen on its way, and its acknowledgment": (
        message(28, acknowledge=2),
        [captured(message(28)), captured(acknowledgment(28, RECEIVE))],
        State.READ,
    ),
    "archived twice": (message(24), [found(24), found(24)], State.ARRIVED_UNREAD),
    "before its predecessor": (
        message(31, **ONE),
        [found(31, seq=500, **ONE)],
        State.ARRIVED_UNREAD,
    ),
    "after its successor": (message(30, **ONE), [found(30, seq=501, **ONE)], State.OUT_OF_ORDER),
    "late in its transaction": (
        message(40, **several(1, first=True)),
        [found(40, seq=601, **several(1, first=True))],
        State.OUT_OF_ORDER,
    ),
    "early in its transaction": (
        message(41, **several(1, last=True)),
        [found(41, seq=600, **several(1, last=True))],
        State.ARRIVED_UNREAD,
    ),
    # Sent first, committed last: nobody promised an order between two transactions.
    "another transaction": (
        message(39, **several(2, first=True)),
        [found(39, seq=602, **several(2, first=True))],
        State.ARRIVED_UNREAD,
    ),
    "not transactional": (message(29), [found(29, seq=800)], State.ARRIVED_UNREAD),
}
SENDS: Final = [sent for sent, _, _ in CASES.values()]
EVIDENCE: Final = [row for _, rows, _ in CASES.values() for row in rows]
EXPECTED: Final = {sent["id"]: state for sent, _, state in CASES.values()}
# Only this one asked for a success that could have come and has not.
LOST: Final = {CASES["asked, too late"][0]["id"]}
assert len(EXPECTED) == len(CASES)
__all__ = ["CASES", "EVIDENCE", "EXPECTED", "LOST", "NOW", "SENDS"]
