"""What a caller without a right is told."""

import pickle

import pytest
from tests.core.harness import ORDERS, STRANGER, Harness

from openmsmq.core.queues.access import check_machine_right, check_queue_right
from openmsmq.core.queues.value_text import value_text
from openmsmq.security.right_missing import RightMissing
from openmsmq.wire.codes.access_rights import MachineRight, QueueRight


def test_a_missing_right_on_a_queue_is_told_in_words(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    with pytest.raises(RightMissing) as caught:
        check_queue_right(queue, STRANGER, QueueRight.RECEIVE_MESSAGE)
    assert caught.value.detail == rf"{STRANGER.sid} needs the right receive on {queue.path}"
    told = caught.value.named("user:nobody")
    assert told.detail == rf"user:nobody needs the right receive on {queue.path}"
    assert f"`openmsmq queue grant '.\\{queue.path}' user:nobody receive`" in told.remedy


def test_a_journal_goes_by_the_permissions_of_its_queue(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    assert queue.journal is not None
    with pytest.raises(RightMissing) as caught:
        check_queue_right(queue.journal, STRANGER, QueueRight.RECEIVE_JOURNAL_MESSAGE)
    told = caught.value.named("uid:7")
    assert told.detail == rf"uid:7 needs the right receive-journal on {queue.journal.path}"
    assert f"'.\\{queue.path}' uid:7 receive-journal" in told.remedy


def test_several_rights_are_all_named(harness: Harness) -> None:
    queue = harness.qm.find_queue(ORDERS)
    both = QueueRight.PEEK_MESSAGE | QueueRight.CHANGE_QUEUE_PERMISSIONS
    with pytest.raises(RightMissing, match="needs the rights peek and change-permissions on"):
        check_queue_right(queue, STRANGER, both)


def test_a_missing_right_on_the_queue_manager_is_told_in_words(harness: Harness) -> None:
    with pytest.raises(RightMissing) as caught:
        check_machine_right(harness.qm.state, STRANGER, MachineRight.PEEK_DEADLETTER_MESSAGE)
    told = caught.value.named("user:nobody")
    assert told.detail == "user:nobody needs the right peek-deadletter on the queue manager"
    assert "queue grant" not in told.remedy


def test_it_survives_pickling(harness: Harness) -> None:
    error = RightMissing(STRANGER.sid, ["send"], r"private$\a", r"private$\a")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (copy.detail, copy.rights, copy.holder) == (error.detail, ["send"], r"private$\a")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"\x00\x01", "a value of 2 bytes"),
        ("x", "'x'"),
        ("x" * 61, f"'{'x' * 60}…'"),
        (None, "nothing"),
        (True, "true"),
        (False, "false"),
        (QueueRight.WRITE_MESSAGE, "4"),
        (-5, "-5"),
        (0.5, "0.5"),
        (["a"], "a value of type list"),
    ],
)
def test_values_are_shown_as_people_write_them(value: object, text: str) -> None:
    assert value_text(value) == text
