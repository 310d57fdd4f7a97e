"""How many files the process may open, and who may use them."""

import logging
import resource

import pytest

from openmsmq.server.open_files import FEWEST_READERS, OTHER_FILES, allow_files, spare_files

INFINITY = resource.RLIM_INFINITY


class Limits:
    """The limits of a process, without changing those of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, soft: int, hard: int) -> None:
        self.now = (soft, hard)
        monkeypatch.setattr(resource, "getrlimit", lambda _: self.now)
        monkeypatch.setattr(resource, "setrlimit", self._set)

    def _set(self, _: int, limits: tuple[int, int]) -> None:
        self.now = limits


@pytest.mark.parametrize(
    ("limits", "soft", "warns"),
    [
        ((1024, 100_000), 9000, False),
        ((1024, INFINITY), 9000, False),
        ((1024, 4096), 4096, False),
        ((1024, 2048), 2048, True),
        ((10_000, 10_000), 10_000, False),
        ((INFINITY, INFINITY), INFINITY, False),
    ],
)
def test_the_limit_is_raised_as_far_as_the_system_allows(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    limits: tuple[int, int],
    soft: int,
    *,
    warns: bool,
) -> None:
    caplog.set_level(logging.WARNING, "openmsmq")
    process = Limits(monkeypatch, *limits)
    allow_files(needed=3000, wanted=9000)
    assert process.now == (soft, limits[1])
    assert bool(caplog.records) == warns


def test_remote_readers_get_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    Limits(monkeypatch, 20_000, 20_000)
    assert spare_files(500) == 20_000 - 500 - OTHER_FILES
    Limits(monkeypatch, 1024, 1024)
    assert spare_files(1000) == FEWEST_READERS
    Limits(monkeypatch, INFINITY, INFINITY)
    assert spare_files(1000) > 1_000_000
