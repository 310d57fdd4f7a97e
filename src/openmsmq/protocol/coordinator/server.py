"""The coordinator: calls of queue managers that take part in transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from openmsmq.protocol.rpc.interface import Served, ServedInterface, serve
from openmsmq.wire.codes.endpoints import COORDINATOR
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.rpc_interfaces import coordinator as calls
from openmsmq.wire.rpc_interfaces.common import ResultResponse
from openmsmq.wire.transactions.coordination import Order, Standing

if TYPE_CHECKING:
    from uuid import UUID

    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.protocol.rpc.server import ServerCall
    from openmsmq.wire.rpc.status import AuthnLevel

_MQ_OK: Final = int(Hresult.MQ_OK)


def _result(code: int) -> ResultResponse:
    return ResultResponse(code)


def _no_order(code: int) -> calls.ReportResponse:
    return calls.ReportResponse(0, code)


class CoordinatorServer:
    """Serves the transactions of a queue manager to their participants.

    Args:
        minimum_level: weaker calls are refused.
    """

    __slots__ = ("_coordination", "_manager", "interface")

    def __init__(self, manager: QueueManager, *, minimum_level: AuthnLevel) -> None:
        self._manager = manager
        self._coordination = manager.coordination
        self.interface: Final[ServedInterface] = serve(
            COORDINATOR,
            "Coordinator",
            (
                Served(calls.C_ENLIST, self._enlist, minimum_level=minimum_level, failure=_result),
                Served(
                    calls.C_REPORT, self._report, minimum_level=minimum_level, failure=_no_order
                ),
            ),
        )

    def _enlist(self, call: ServerCall, request: calls.EnlistRequest) -> None:
        self._require_here(request.coordinator)
        self._coordination.enlist(
            request.transaction, request.participant, call.caller.sid.serialize()
        )
        call.reply(ResultResponse(_MQ_OK))

    def _report(self, call: ServerCall, request: calls.ReportRequest) -> None:
        self._require_here(request.coordinator)
        try:
            standing = Standing(request.standing)
        except ValueError as exc:
            raise QueueError(
                Hresult.MQ_ERROR_INVALID_PARAMETER, f"{request.standing} is not a standing"
            ) from exc
        report = _Report(self._manager, call, request)
        call.on_cancel = report.cancel
        self._coordination.report(
            request.transaction,
            request.participant,
            standing,
            call.caller.sid.serialize(),
            report,
        )

    def _require_here(self, coordinator: UUID) -> None:
        """Refuse to answer for another queue manager, which may have used this address before."""
        if coordinator != self._manager.identifier:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_ENLIST, f"{coordinator} is not this coordinator"
            )

    # Time

    def next_timer(self) -> float | None:
        """The next deadline for participants."""
        return self._coordination.next_timer()

    def handle_timer(self, *, now: float) -> None:
        """Abort transactions that were not prepared in time."""
        self._coordination.handle_timer(now=now)


class _Report:
    """A call of C_Report, until the participant is told what to do."""

    __slots__ = ("_call", "_manager", "_request")

    def __init__(
        self, manager: QueueManager, call: ServerCall, request: calls.ReportRequest
    ) -> None:
        self._manager = manager
        self._call = call
        self._request = request

    def ordered(self, order: Order, depends: int) -> None:
        self._call.reply(calls.ReportResponse(order, _MQ_OK), depends=depends)

    def superseded(self) -> None:
        self._call.fail(Hresult.MQ_ERROR_OPERATION_CANCELLED)

    def cancel(self, call: ServerCall) -> None:
        """The participant no longer waits."""
        request = self._request
        self._manager.coordination.lost(request.transaction, request.participant, self)
        if call.open:
            call.fail(Hresult.MQ_ERROR_OPERATION_CANCELLED)
