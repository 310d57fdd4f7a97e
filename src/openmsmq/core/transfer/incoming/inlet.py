"""The inlet of one connection: its messages go into queues in their order.

Usually that happens at once. Messages that need a check wait for it, and later messages of the
connection wait behind them. The inlet outlives its connection: received messages are
delivered, and the sender, which was not told, may send them again.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, Protocol

from openmsmq.core.events import ReceptionEnded
from openmsmq.core.transfer.checks.checks import CheckJob
from openmsmq.core.transfer.transports import WEB, Transport

from .answered_reception import AnsweredReception, Positions
from .claims import drop_claims
from .multicast_reception import MulticastReception
from .received import Received, not_received
from .reception import Reception

if TYPE_CHECKING:
    from openmsmq.core.state import State
    from openmsmq.core.transfer.checks.checks import Checks
    from openmsmq.core.transfer.transports import Origin
    from openmsmq.wire.codes.message_class import MessageClass
    from openmsmq.wire.message.user_message_run import UserMessageRun

    from .received import Acknowledgments


# Members of enumerations take long to look up, so often used ones are constants.
_MULTICAST: Final = Transport.MULTICAST

TOO_MANY_FAILED: Final = "too many signatures or decryptions of this address failed"


class InletOwner(Protocol):
    """A transport whose messages may wait for checks."""

    def received(self, read: object, received: Received, *, now: float) -> None:
        """The result of a read that `Inlet.receive` did not answer; called once for each."""


class WaitingReception:
    """Messages that arrived together and wait: for their checks, or behind others that do."""

    __slots__ = (
        "checked",
        "ended",
        "fault",
        "origin",
        "positions",
        "read",
        "refused",
        "runs",
        "size",
    )

    def __init__(
        self,
        runs: list[UserMessageRun],
        origin: Origin,
        read: object,
        positions: Positions = (),
    ) -> None:
        self.runs = runs
        self.positions = positions
        self.origin = origin
        self.read = read
        self.size = sum([sum(map(len, run.packets)) for run in runs])
        self.refused: dict[UserMessageRun, MessageClass] = {}
        self.checked = False
        self.fault = ""
        self.ended = False


class Inlet:
    """Receives the messages of one connection.

    Args:
        owner: notified later of the results of messages that had to wait.
        acknowledgments: takes the acknowledgments of transactional messages among them; None for
            a transport on which they are not messages.
    """

    __slots__ = (
        "_acknowledgments",
        "_checks",
        "_closed",
        "_full",
        "_owner",
        "_state",
        "_waiting",
    )

    def __init__(
        self,
        state: State,
        checks: Checks,
        owner: InletOwner,
        *,
        acknowledgments: Acknowledgments | None,
    ) -> None:
        self._state = state
        self._checks = checks
        self._owner = owner
        self._acknowledgments = acknowledgments
        self._waiting: deque[WaitingReception] = deque()
        # A waiting message was left out: later ones must not overtake it.
        self._closed = False
        # A message found no room to wait: later ones must not overtake it; waiting ones go in.
        self._full = False

    def receive(
        self,
        runs: list[UserMessageRun],
        origin: Origin,
        read: object,
        positions: Positions = (),
    ) -> Received | None:
        """Process messages that arrived together; the only entrance for all transports.

        Args:
            runs: the messages, as received.
            read: passed to the owner if the answer comes later.
            positions: the position of each message in its stream, for transports that answer each
                message; then each run has one message.

        Returns:
            The result; None if they wait, then the owner is notified.
        """
        self._state.counters.session_messages.add(
            (str(origin.transport),), sum([len(run.packets) for run in runs])
        )
        drop_claims(runs, origin.transport, self._state.identity)
        verifier = self._checks.verifier
        checked = [run for run in runs if verifier.concerns(run.head, origin)]
        if not (checked or self._waiting or self._closed or self._full):
            return self._deliver(runs, origin, positions)
        return self._check(checked, WaitingReception(runs, origin, read, positions))

    def _deliver(
        self,
        runs: list[UserMessageRun],
        origin: Origin,
        positions: Positions,
        refused: dict[UserMessageRun, MessageClass] | None = None,
    ) -> Received:
        if origin.transport in WEB:
            return AnsweredReception(self._state, origin, positions).receive(runs, refused)
        if origin.transport is _MULTICAST:
            return MulticastReception(self._state, origin).receive(runs, refused)
        reception = Reception(self._state, origin, acknowledgments=self._acknowledgments)
        return reception.receive(runs, refused)

    # Checks

    def _check(self, checked: list[UserMessageRun], reception: WaitingReception) -> Received | None:
        """Have messages checked, in place if that is quick and nothing waits before them."""
        if self._closed or self._full:
            return not_received()
        if checked and self._exceeds(reception):
            return not_received(TOO_MANY_FAILED)
        job = self._job(checked, reception)
        if job is None:
            reception.checked = True
        elif job.in_place:
            self._run_in_place(job)
        if reception.checked and not self._waiting:
            return self._end(reception)
        checks = self._checks
        if not checks.has_room(reception.size):
            self._full = True
            return not_received()
        checks.wait(reception.size)
        self._waiting.append(reception)
        if job is not None and not reception.checked:
            checks.add(job)
        return None

    def _job(self, checked: list[UserMessageRun], reception: WaitingReception) -> CheckJob | None:
        """The checks that messages need; None if they need none."""
        if not checked:
            return None
        verifier, origin = self._checks.verifier, reception.origin
        checks = {}
        for run in checked:
            checks[run] = [verifier.check(message, origin) for message in run.messages()]
        return CheckJob(self, reception, reception.runs, checks)

    def _run_in_place(self, job: CheckJob) -> None:
        error = None
        try:
            job.run()
        except Exception as exc:  # noqa: BLE001 - as in a worker: it concerns this connection only
            error = exc
        self._note_checked(job, error)

    def checked(self, job: CheckJob, error: Exception | None) -> None:
        """A worker has run a job: deliver the messages that no longer wait."""
        if job.reception.ended:
            return
        self._note_checked(job, error)
        waiting = self._waiting
        while waiting and (waiting[0].checked or self._closed):
            reception = waiting.popleft()
            self._checks.end(reception.size)
            received = self._end(reception)
            self._state.outbox.tell(
                ReceptionEnded(owner=self._owner, read=reception.read, received=received)
            )

    def _note_checked(self, job: CheckJob, error: Exception | None) -> None:
        reception = job.reception
        reception.checked = True
        if error is not None:
            reception.fault = f"{type(error).__name__}: {error}"
            return
        reception.runs, reception.refused = job.runs, job.refused
        if job.failures:
            failed = self._checks.failed
            failed.add(reception.origin.address, job.failures, self._state.now)
            if self._exceeds(reception):
                reception.fault = TOO_MANY_FAILED

    def _exceeds(self, reception: WaitingReception) -> bool:
        """Whether too many checks of this address failed lately."""
        return self._checks.failed.exceeded(reception.origin.address, self._state.now)

    def _end(self, reception: WaitingReception) -> Received:
        """Deliver messages whose turn it is, unless one before them was left out."""
        reception.ended = True
        if self._closed:
            return not_received()
        if reception.fault:
            received = not_received(reception.fault)
        else:
            received = self._deliver(
                reception.runs, reception.origin, reception.positions, reception.refused
            )
        self._closed = not received.complete
        return received
