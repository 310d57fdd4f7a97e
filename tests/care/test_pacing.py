"""Long work rests while the machine is busy."""

import pytest

from openmsmq.care.pacing import BUSY_FACTOR, MAX_REST_SECONDS, MEMORY, REST_FACTOR, Pace


class Times:
    """A clock, the processor time of a thread, and the rests that were taken."""

    def __init__(self) -> None:
        self.now = 100.0
        self.own = 5.0
        self.rests: list[float] = []

    def pace(self) -> Pace:
        return Pace(lambda: self.now, lambda: self.own, self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.rests.append(seconds)
        self.now += seconds

    def work(self, own: float, waited: float) -> None:
        self.own += own
        self.now += own + waited


def test_there_is_no_rest_while_the_machine_answers_soon() -> None:
    times = Times()
    pace = times.pace()
    for _ in range(3):
        times.work(0.01, 0.01 * BUSY_FACTOR - 0.001)
        pace.step_done()
    assert times.rests == []


def test_who_had_to_wait_rests_for_longer_and_the_rest_is_no_wait() -> None:
    times = Times()
    pace = times.pace()
    times.work(0.001, 0.002)
    pace.step_done()
    assert times.rests == [pytest.approx((1 - MEMORY) * 0.002 * REST_FACTOR)]
    times.work(0.02, 0.0)
    pace.step_done()
    assert len(times.rests) == 1


def test_one_wait_among_quick_steps_is_no_reason_to_rest() -> None:
    times = Times()
    pace = times.pace()
    for _ in range(10):
        times.work(0.01, 0.001)
        pace.step_done()
    times.work(0.01, 0.02)
    pace.step_done()
    assert times.rests == []
    times.work(0.01, 0.02)
    pace.step_done()
    assert len(times.rests) == 1


def test_a_rest_is_bounded() -> None:
    times = Times()
    pace = times.pace()
    times.work(0.01, 5.0)
    pace.step_done()
    assert times.rests == [MAX_REST_SECONDS]
