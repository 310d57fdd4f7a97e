"""The missing packets of one source, and the NAKs for them (RFC 3208, 6.3)."""

from collections.abc import Callable, Iterable
from typing import cast

from openmsmq.protocol.timer_heap import TimerHeap

from .repair import Repair, RepairAction, RepairInput, RepairState
from .settings import ReceiverSettings


class Repairs:
    """One `Repair` and one timer for each missing packet.

    Args:
        random: returns numbers from 0 up to 1, for the back-off.
    """

    __slots__ = ("_missing", "_random", "_running", "_settings", "_timers")

    def __init__(self, settings: ReceiverSettings, *, random: Callable[[], float]) -> None:
        self._settings = settings
        self._random = random
        self._missing: dict[int, Repair] = {}
        self._timers = TimerHeap()
        # RFC 3208, 6.2: no NAK before the first SPM, which has the address for NAKs.
        self._running = False

    def __len__(self) -> int:
        return len(self._missing)

    def start(self, *, now: float) -> None:
        """An SPM has arrived: NAKs may be sent."""
        if not self._running:
            self._running = True
            for number, repair in self._missing.items():
                self._timers.set(number, now + self._interval(repair.state))

    def add(self, number: int, *, now: float) -> None:
        """A packet is missing."""
        self._missing[number] = Repair()
        if self._running:
            self._timers.set(number, now + self._interval(RepairState.BACK_OFF))

    def remove(self, number: int) -> None:
        """A packet has arrived, or is given up."""
        if self._missing.pop(number, None) is not None:
            self._timers.set(number, None)

    def remove_all(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.remove(number)

    def numbers(self) -> list[int]:
        return list(self._missing)

    def hear(self, number: int, event: RepairInput, *, now: float) -> None:
        """A NAK of another receiver, or an NCF: this receiver need not send its own."""
        repair = self._missing.get(number)
        if repair is not None and self._running:
            repair.step(event)
            self._timers.set(number, now + self._interval(repair.state))

    def next_timer(self) -> float | None:
        return self._timers.next()

    def handle_timer(self, *, now: float) -> tuple[list[int], list[int]]:
        """The packets to send NAKs for now, and those that are given up."""
        requests: list[int] = []
        given_up: list[int] = []
        settings = self._settings
        # The owners of the timers are sequence numbers.
        for number in cast("list[int]", self._timers.take_due(now)):
            repair = self._missing[number]
            if repair.step(RepairInput.TIMER) is RepairAction.SEND_NAK:
                requests.append(number)
            elif (
                repair.ncf_retries >= settings.nak_ncf_retries
                or repair.data_retries >= settings.nak_data_retries
            ):
                del self._missing[number]
                given_up.append(number)
                continue
            self._timers.set(number, now + self._interval(repair.state))
        return requests, given_up

    def _interval(self, state: RepairState) -> float:
        settings = self._settings
        if state is RepairState.WAIT_NCF:
            return settings.nak_rpt_ivl
        if state is RepairState.WAIT_DATA:
            return settings.nak_rdata_ivl
        low, high = settings.nak_rb_ivl
        return low + (high - low) * self._random()
