"""Who shuts out whom ([MS-MQDMPR] 3.1.7.1.5)."""

import pytest
from tests.core.harness import ADMINISTRATOR, ORDERS, PEEK, RECEIVE, SEND, Harness, refused

from openmsmq.core.model.open_queue import QueueAccessType
from openmsmq.wire.codes.queue_enums import ShareMode

SPEC = pytest.mark.spec
NONE, DENY = ShareMode.DENY_NONE, ShareMode.DENY_RECEIVE_SHARE

# (already open) -> (later open): whether it is refused.
MATRIX = {
    (RECEIVE, DENY): {(RECEIVE, NONE), (RECEIVE, DENY), (PEEK, DENY), (SEND, DENY)},
    (PEEK, DENY): {(RECEIVE, NONE), (RECEIVE, DENY)},
    (RECEIVE, NONE): {(RECEIVE, DENY), (PEEK, DENY), (SEND, DENY)},
    (PEEK, NONE): set(),
    (SEND, NONE): set(),
    (SEND, DENY): set(),
}
ROWS = {
    (RECEIVE, DENY): SPEC("MQDMPR-3.1.7.1.5-19", "MQDMPR-3.1.7.1.5-20"),
    (PEEK, DENY): SPEC("MQDMPR-3.1.7.1.5-21"),
    (RECEIVE, NONE): SPEC("MQDMPR-3.1.7.1.5-22"),
    (PEEK, NONE): SPEC("MQDMPR-3.1.7.1.5-23"),
    (SEND, NONE): SPEC("MQDMPR-3.1.7.1.5-23"),
    (SEND, DENY): SPEC("MQDMPR-3.1.7.1.5-23"),
}
Kind = tuple[QueueAccessType, ShareMode]


@pytest.mark.parametrize(
    ("held", "asked", "violation"),
    [
        pytest.param(held, (access, share), (access, share) in refusals, marks=ROWS[held])
        for held, refusals in MATRIX.items()
        for access in (RECEIVE, PEEK, SEND)
        for share in (NONE, DENY)
    ],
)
def test_the_sharing_matrix(harness: Harness, held: Kind, asked: Kind, *, violation: bool) -> None:
    harness.open(held[0], share=held[1])
    if violation:
        with refused("MQ_ERROR_SHARING_VIOLATION"):
            harness.open(asked[0], share=asked[1])
        assert len(harness.qm.find_queue(ORDERS).descriptors) == 1
    else:
        harness.open(asked[0], share=asked[1])


@SPEC("MQDMPR-3.1.7.1.5-24", "MQDMPR-3.1.7.1.5-26")
def test_the_share_mode_counts_until_the_descriptor_closes(harness: Harness) -> None:
    first = harness.open(RECEIVE, share=DENY)
    assert first.share is DENY
    with refused("MQ_ERROR_SHARING_VIOLATION"):
        harness.open(RECEIVE)
    harness.qm.close_queue(first)
    assert not harness.qm.find_queue(ORDERS).active
    harness.open(RECEIVE)


def test_a_queue_that_others_read_tells_how_many(harness: Harness) -> None:
    harness.open(SEND)
    harness.open(RECEIVE)
    with refused("MQ_ERROR_SHARING_VIOLATION: .* is open for receive by one reader"):
        harness.open(RECEIVE, share=DENY)
    harness.open(RECEIVE)
    with refused("MQ_ERROR_SHARING_VIOLATION: .* is open for receive by 2 readers") as caught:
        harness.open(RECEIVE, share=DENY)
    assert "consume=lease" in caught.value.remedy


def test_a_queue_that_one_reader_keeps_for_itself_says_so(harness: Harness) -> None:
    harness.open(RECEIVE, share=DENY)
    for share in (NONE, DENY):
        with refused("MQ_ERROR_SHARING_VIOLATION: .* by a reader that keeps others out"):
            harness.open(RECEIVE, share=share)


@SPEC("MQDMPR-3.1.7.1.5-21")
def test_a_peek_at_an_outgoing_queue_can_deny_receives(harness: Harness) -> None:

    name = r"DIRECT=OS:elsewhere\private$\q"
    harness.open(SEND, name)
    harness.open(QueueAccessType.PEEK_ADMIN, name, share=DENY, caller=ADMINISTRATOR)
    with refused("MQ_ERROR_SHARING_VIOLATION"):
        harness.open(QueueAccessType.RECEIVE_ADMIN, name, caller=ADMINISTRATOR)
    harness.open(QueueAccessType.PEEK_ADMIN, name, caller=ADMINISTRATOR)
