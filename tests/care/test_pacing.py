"""Long work rests while the machine is busy."""

import pytest

from openmsmq.care.pacing import (
    BUSY_FACTOR,
    MAX_REST_SECONDS,
    MEMORY_SECONDS,
    REST_FACTOR,
    Pace,
)

STEP = MEMORY_SECONDS / 50


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

    def steps(self, pace: Pace, count: int, own: float, waited: float) -> None:
        for _ in range(count):
            self.own += own
            self.now += own + waited
            pace.step_done()


def test_there_is_no_rest_while_the_machine_answers_soon() -> None:
    times = Times()
    times.steps(times.pace(), 500, STEP, STEP * BUSY_FACTOR * 0.9)
    assert times.rests == []


def test_work_that_waits_rests_for_longer_and_the_rest_is_no_wait() -> None:
    times = Times()
    pace = times.pace()
    times.steps(pace, 200, STEP, STEP * BUSY_FACTOR * 2)
    taken = STEP + STEP * BUSY_FACTOR * 2
    assert len(times.rests) > 100
    assert times.rests[-1] == pytest.approx(taken * REST_FACTOR)
    # Without waits it soon goes on at full speed.
    times.rests.clear()
    times.steps(pace, 200, STEP, 0.0)
    assert len(times.rests) < 50
    times.rests.clear()
    times.steps(pace, 200, STEP, 0.0)
    assert times.rests == []


@pytest.mark.parametrize("steps", [0, 100])
def test_one_wait_among_quick_steps_is_no_reason_to_rest(steps: int) -> None:
    times = Times()
    pace = times.pace()
    times.steps(pace, steps, STEP, 0.0)
    times.steps(pace, 1, STEP, 10 * STEP)
    assert times.rests == []


def test_a_rest_is_bounded() -> None:
    times = Times()
    times.steps(times.pace(), 1, 0.01, 5.0)
    assert times.rests == [MAX_REST_SECONDS]
