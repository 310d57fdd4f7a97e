"""The participant: calls to coordinators on other machines, with retries.

A coordinator of another kind, such as MSDTC, needs another `Participant`, with the same methods.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from openmsmq.core.holder import require_room
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MalformedPacket
from openmsmq.wire.rpc_interfaces import coordinator as calls
from openmsmq.wire.transactions.coordination import Order
from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl
from openmsmq.wire.transactions.propagation_token import PropagationToken

if TYPE_CHECKING:
    from uuid import UUID

    from openmsmq.core.queue_manager import QueueManager
    from openmsmq.core.transactions.enlisted import DueReport, Enlistment
    from openmsmq.wire.ndr import Call

    from .settings import ParticipantSettings


class Gate(Protocol):
    """Lets effects wait for the disk; implemented by the engine."""

    def when_durable(
        self, depends: int, effect: Callable[[Any], None], argument: object
    ) -> None: ...


class EnlistOwner(Protocol):
    """The requester of an enlistment, until it is told the outcome."""

    def enlisted(self) -> None:
        """The transaction can be used."""

    def refused(self, error: QueueError) -> None:
        """The transaction cannot be used."""


class CoordinatorRequest(NamedTuple):
    """A call that the shell makes to a coordinator.

    Attributes:
        number: for `answered` and `failed`.
        seconds: the time limit of the answer; None for the lifetime of the connection.
    """

    number: int
    url: CoordinatorUrl
    call: Call
    # Any: the request of either call.
    request: Any
    seconds: float | None


class _Enlisting(NamedTuple):
    """A coordinator that was asked to accept this queue manager."""

    transaction: UUID
    coordinator: UUID
    url: CoordinatorUrl
    caller: bytes
    owner: EnlistOwner


class Participant:
    """Takes part in the transactions of coordinators on other machines.

    Args:
        gate: holds reports back until their contents are on disk.
    """

    def __init__(self, manager: QueueManager, gate: Gate, settings: ParticipantSettings) -> None:
        self._manager = manager
        self._enlisted = manager.enlisted
        self._gate = gate
        self._settings = settings
        self._hosts = frozenset(host.lower() for host in settings.hosts)
        self._numbers = count(1)
        self._requests: list[CoordinatorRequest] = []
        self._asked: dict[int, _Enlisting | Enlistment] = {}
        # Enlistments whose coordinator did not answer, and the time of the next report.
        self._waiting: dict[Enlistment, float] = {}

    # Enlisting

    def enlist(
        self,
        transaction: UUID,
        token: bytes | memoryview,
        *,
        address: str,
        caller: bytes,
        owner: EnlistOwner,
    ) -> None:
        """Take part in the transaction of a token; `owner` is told whether the coordinator agrees.

        Args:
            address: the source address of the call.
            caller: the SID of the client, which alone may use the transaction here.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_IMPORT, the token is invalid or of another
                transaction; MQ_ERROR_TRANSACTION_ENLIST, its coordinator is of another kind or may
                not be connected to.
        """
        coordinator, url = self._read(transaction, token, address)
        enlistment = self._enlisted.get(transaction)
        if enlistment is not None:
            # A client may enlist a transaction again for another of its queues.
            self._enlisted.transaction(transaction, caller)
            owner.enlisted()
            return
        require_room(
            len(self._enlisted) + len(self._asked),
            self._settings.max_transactions,
            "transactions of other machines",
        )
        self._ask(
            _Enlisting(transaction, coordinator, url, caller, owner),
            url,
            calls.C_ENLIST,
            calls.EnlistRequest(coordinator, transaction, self._manager.identifier),
            self._settings.enlist_seconds,
        )

    def _read(
        self, transaction: UUID, token: bytes | memoryview, address: str
    ) -> tuple[UUID, CoordinatorUrl]:
        try:
            parsed = PropagationToken.parse(token)
            url = CoordinatorUrl.parse(parsed.url)
        except MalformedPacket as exc:
            raise QueueError(Hresult.MQ_ERROR_TRANSACTION_IMPORT, str(exc)) from exc
        if parsed.guid_tx != transaction:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_IMPORT,
                f"the token is of transaction {parsed.guid_tx}, not {transaction}",
            )
        if url is None or not parsed.network_enabled:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_ENLIST,
                f"{parsed.host_name}: a coordinator of another kind",
            )
        return parsed.contact, CoordinatorUrl(self._allowed(url.host, address), url.port)

    def _allowed(self, host: str, address: str) -> str:
        """The address to connect to: a host of the settings, or else the source of the call.

        A token is untrusted input: a name in it is not resolved.
        """
        if host.lower() in self._hosts:
            return host
        try:
            same = ip_address(host) == ip_address(address)
        except ValueError:
            same = True
        if not same:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_ENLIST,
                f"the coordinator is at {host}, and the call came from {address}",
                cause="A coordinator must be at the caller's address, or in coordinator_hosts.",
                remedy=f"Add {host} to coordinator_hosts if it is to be trusted.",
            )
        return address

    # Calls of the shell

    def take_requests(self) -> list[CoordinatorRequest]:
        """The calls to make now."""
        reports = self._enlisted.reports
        if reports:
            self._enlisted.reports = []
            for report in reports:
                if report.later:
                    self._wait(report.enlistment)
                else:
                    self._gate.when_durable(report.depends, self._report, report)
        requests, self._requests = self._requests, []
        return requests

    def answered(self, number: int, response: Any) -> None:
        """A coordinator has answered."""
        request = self._asked.pop(number)
        code = response.result
        if isinstance(request, _Enlisting):
            self._end_enlisting(request, code)
            return
        try:
            order = Order(response.order) if code == Hresult.MQ_OK else None
        except ValueError:
            order = None
        self._enlisted.ordered(request, order)

    def failed(self, number: int, reason: str) -> None:
        """A coordinator is unreachable, or the connection to it is lost."""
        request = self._asked.pop(number)
        if isinstance(request, _Enlisting):
            request.owner.refused(
                QueueError(
                    Hresult.MQ_ERROR_DTC_CONNECT,
                    f"the coordinator at {request.url} does not answer: {reason}",
                )
            )
        else:
            self._enlisted.ordered(request, None)

    def _end_enlisting(self, request: _Enlisting, code: int) -> None:
        if code != Hresult.MQ_OK:
            request.owner.refused(
                QueueError(
                    Hresult.MQ_ERROR_TRANSACTION_ENLIST,
                    f"the coordinator at {request.url} refuses: {code:#010x}",
                )
            )
            return
        try:
            self._enlisted.begin(
                request.transaction, request.coordinator, request.url, request.caller
            )
        except QueueError as exc:
            request.owner.refused(exc)
        else:
            request.owner.enlisted()

    # Any: the request of either call.
    def _ask(
        self,
        subject: _Enlisting | Enlistment,
        url: CoordinatorUrl,
        call: Call,
        request: Any,
        seconds: float | None = None,
    ) -> None:
        number = next(self._numbers)
        self._asked[number] = subject
        self._requests.append(CoordinatorRequest(number, url, call, request, seconds))

    def _report(self, report: DueReport) -> None:
        if report.enlistment.standing is report.standing:
            self._tell(report.enlistment)

    def _tell(self, enlistment: Enlistment) -> None:
        self._waiting.pop(enlistment, None)
        self._ask(
            enlistment,
            enlistment.url,
            calls.C_REPORT,
            calls.ReportRequest(
                enlistment.coordinator,
                enlistment.transaction,
                self._manager.identifier,
                enlistment.standing,
            ),
        )

    # Time

    def _wait(self, enlistment: Enlistment) -> None:
        settings = self._settings
        delay = settings.retry_seconds * 2 ** min(max(enlistment.attempts - 1, 0), 16)
        self._waiting[enlistment] = self._manager.now + min(delay, settings.max_retry_seconds)

    def next_timer(self) -> float | None:
        """The next time at which a coordinator is asked again."""
        if self._requests or self._enlisted.reports:
            return self._manager.now
        return min(self._waiting.values(), default=None)

    def handle_timer(self, *, now: float) -> None:
        """Ask coordinators that did not answer."""
        for enlistment in [enlistment for enlistment, due in self._waiting.items() if due <= now]:
            self._tell(enlistment)
