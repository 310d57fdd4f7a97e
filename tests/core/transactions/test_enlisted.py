"""A part of a transaction that a coordinator on another machine decides."""

from uuid import UUID

from tests.core.harness import Harness

from openmsmq.core.transactions.enlisted import DueReport
from openmsmq.wire.transactions.coordination import Order, Standing
from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl


def test_a_commit_without_a_prepare_aborts_and_is_told_without_waiting_for_the_disk(
    harness: Harness,
) -> None:
    enlisted = harness.qm.enlisted
    part = enlisted.begin(UUID(int=1), UUID(int=2), CoordinatorUrl("10.0.0.7", 99), b"owner")
    enlisted.reports.clear()
    enlisted.ordered(part, Order.COMMIT)
    assert enlisted.reports == [DueReport(part, Standing.ABORTED, 0)]
