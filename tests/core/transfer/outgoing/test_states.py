"""The states of an outgoing queue: the whole product of states and inputs."""

from itertools import product

import pytest
from tests.core.harness import ADMINISTRATOR, SEND, Harness

from openmsmq.core.events import ConnectionNoted, QueuePaused, QueueResumed
from openmsmq.core.model.outgoing_queue import HELD_REASONS, NOT_CONNECTED, OutgoingQueue
from openmsmq.core.model.queue import Queue
from openmsmq.core.sites.initialization import settle_outgoing_queues
from openmsmq.core.transfer.outgoing.states import (
    STATES,
    STATUS_WORDS,
    TRANSITIONS,
    OutgoingInput,
    change_state,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ConnectionStatus, QueueState

REMOTE = r"DIRECT=OS:elsewhere\private$\q"
PRODUCT = list(product(STATES, OutgoingInput))
HELD = frozenset(HELD_REASONS)
FREEING = {
    (QueueState.ONHOLD, OutgoingInput.RESUMED): QueueState.INACTIVE,
    (QueueState.ONHOLD, OutgoingInput.LOCKED): QueueState.LOCKED,
    (QueueState.LOCKED, OutgoingInput.UNLOCKED): QueueState.WAITING,
}
FOLLOWING = {
    OutgoingInput.CONNECTING: QueueState.WAITING,
    OutgoingInput.REACHED: QueueState.WAITING,
    OutgoingInput.ESTABLISHED: QueueState.WAITING,
    OutgoingInput.OPENED: QueueState.CONNECTED,
    OutgoingInput.CLOSING: QueueState.DISCONNECTING,
    OutgoingInput.CLOSED: QueueState.DISCONNECTED,
    OutgoingInput.FAILED: QueueState.DISCONNECTED,
    OutgoingInput.UNANSWERED: QueueState.INACTIVE,
    OutgoingInput.UNRESOLVED: QueueState.NEED_VALIDATION,
    OutgoingInput.RESTED: QueueState.INACTIVE,
    OutgoingInput.PAUSED: QueueState.ONHOLD,
    OutgoingInput.LOCKED: QueueState.LOCKED,
}


def opened(harness: Harness) -> tuple[Queue, OutgoingQueue]:
    harness.qm.close_queue(harness.open(SEND, REMOTE))
    queue = harness.qm.outgoing.find(REMOTE)
    assert queue.outgoing is not None
    return queue, queue.outgoing


def test_the_table_has_every_state_and_every_input() -> None:
    assert set(TRANSITIONS) == set(PRODUCT)
    assert QueueState.LOCAL_CONNECTION not in STATES


@pytest.mark.parametrize(("state", "what"), PRODUCT)
def test_the_next_state(state: QueueState, what: OutgoingInput) -> None:
    expected = FREEING.get((state, what), state)
    if state not in HELD:
        expected = FOLLOWING.get(what, state)
    assert TRANSITIONS[state, what].state is expected


@pytest.mark.parametrize(("state", "what"), PRODUCT)
def test_why_messages_wait_is_always_there(
    harness: Harness, state: QueueState, what: OutgoingInput
) -> None:
    queue, outgoing = opened(harness)
    outgoing.state, outgoing.reason = state, "" if state is QueueState.CONNECTED else "before"
    changed = change_state(harness.qm.state, queue, outgoing, what)
    assert changed is (outgoing.state is not state)
    waits = outgoing.state not in (QueueState.CONNECTED, QueueState.DISCONNECTING)
    assert bool(outgoing.reason) or not waits
    if outgoing.state in HELD and outgoing.state is not state:
        assert outgoing.reason == HELD_REASONS[outgoing.state]


@pytest.mark.parametrize(("state", "what"), PRODUCT)
def test_a_step_of_a_connection_is_in_the_history_in_whatever_state(
    harness: Harness, state: QueueState, what: OutgoingInput
) -> None:
    queue, outgoing = opened(harness)
    outgoing.state = state
    change_state(harness.qm.state, queue, outgoing, what, address="10.0.0.1")
    noted = {
        OutgoingInput.REACHED: (ConnectionStatus.NONE, 0),
        OutgoingInput.ESTABLISHED: (ConnectionStatus.ESTABLISH_PACKET_RECEIVED, 0),
        OutgoingInput.OPENED: (ConnectionStatus.READY, 0),
        OutgoingInput.UNRESOLVED: (ConnectionStatus.ROUTING_FAILURE, Hresult.MQ_ERROR),
        OutgoingInput.NOT_ENCRYPTED: (
            ConnectionStatus.CERTIFICATE_VALIDATION_FAILURE,
            Hresult.MQ_ERROR,
        ),
    }
    entries = list(outgoing.connection_history)
    assert [(entry.status, entry.error) for entry in entries] == (
        [noted[what]] if what in noted else []
    )
    assert [entry.address_list for entry in entries] == [("10.0.0.1",)] * len(entries)
    events = harness.take_events(ConnectionNoted)
    assert [event.entry for event in events] == entries


@pytest.mark.parametrize("what", [OutgoingInput.CLOSED, OutgoingInput.FAILED])
@pytest.mark.parametrize("status", [each for each in ConnectionStatus if each >= 0x80000000])
def test_the_reason_of_a_failure_is_in_words(
    harness: Harness, what: OutgoingInput, status: ConnectionStatus
) -> None:
    queue, outgoing = opened(harness)
    harness.qm.outgoing.change(queue, what, status=status)
    assert outgoing.reason == STATUS_WORDS[status]
    assert outgoing.connection_history[-1].error == Hresult.MQ_ERROR
    # The next attempt keeps it until it gets further than this one.
    harness.qm.outgoing.change(queue, OutgoingInput.CONNECTING)
    assert outgoing.reason == STATUS_WORDS[status]
    harness.qm.outgoing.change(queue, OutgoingInput.OPENED)
    assert outgoing.reason == ""


def test_better_words_than_those_of_the_status_are_kept(harness: Harness) -> None:
    queue, outgoing = opened(harness)
    harness.qm.outgoing.change(
        queue,
        OutgoingInput.CLOSED,
        status=ConnectionStatus.UNKNOWN_FAILURE,
        reason="the session ended: malformed packet",
    )
    assert outgoing.reason == "the session ended: malformed packet"


def test_a_paused_queue_is_paused_after_a_restart_and_says_so(harness: Harness) -> None:
    queue, _ = opened(harness)
    harness.qm.outgoing.pause(queue, caller=ADMINISTRATOR)
    harness.restart()
    queue, outgoing = opened(harness)
    assert (outgoing.state, outgoing.reason) == (QueueState.ONHOLD, "paused")
    harness.qm.outgoing.resume(queue, caller=ADMINISTRATOR)
    harness.restart()
    _, outgoing = opened(harness)
    assert (outgoing.state, outgoing.reason) == (QueueState.INACTIVE, NOT_CONNECTED)


def test_a_pause_does_not_lift_the_lock_of_hardened_mode(harness: Harness) -> None:
    queue, outgoing = opened(harness)
    state = harness.qm.state
    state.local.hardened_security = True
    settle_outgoing_queues(state)
    settle_outgoing_queues(state)
    assert [event.queue for event in harness.take_events(QueuePaused)] == [queue]
    harness.qm.outgoing.pause(queue, caller=ADMINISTRATOR)
    harness.qm.outgoing.resume(queue, caller=ADMINISTRATOR)
    assert outgoing.state is QueueState.LOCKED
    assert harness.take_events(QueueResumed) == []
    state.local.hardened_security = False
    settle_outgoing_queues(state)
    # What waited may leave now.
    assert [event.queue for event in harness.take_events(QueueResumed)] == [queue]
    assert outgoing.may_transmit
