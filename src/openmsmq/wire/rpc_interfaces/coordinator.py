"""Coordinator: the calls by which queue managers take part in transactions of another one.

This interface is openmsmq's own. A participant enlists, and then reports where it is; the answer to
a report is what it does next, and may take as long as the transaction.
"""

from typing import Final, NamedTuple
from uuid import UUID

from openmsmq.wire.ndr import GUID, U32, Call, Stub

from .common import RESULT


class EnlistRequest(NamedTuple):
    """Of C_Enlist.

    Attributes:
        coordinator: the queue manager that the token names, so that no other one answers for it.
        participant: the queue manager that enlists.
    """

    coordinator: UUID
    transaction: UUID
    participant: UUID


class ReportRequest(NamedTuple):
    """Of C_Report; `standing` is a `Standing`."""

    coordinator: UUID
    transaction: UUID
    participant: UUID
    standing: int


class ReportResponse(NamedTuple):
    """Of C_Report; `order` is an `Order`, 0 after a failure."""

    order: int
    result: int


C_ENLIST: Final = Call(0, "C_Enlist", Stub(EnlistRequest, GUID, GUID, GUID), RESULT)
C_REPORT: Final = Call(
    1,
    "C_Report",
    Stub(ReportRequest, GUID, GUID, GUID, U32),
    Stub(ReportResponse, U32, U32),
)
