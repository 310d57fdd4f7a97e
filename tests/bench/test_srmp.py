"""The machinery of the benchmark of messages over HTTP, with little to carry."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.brokers import Options, Run
from bench.peers import srmp_receiving
from bench.peers.srmp_requests import content, request
from bench.targets import SRMP_TARGETS, verdict
from rich.console import Console
from tests.interop.loopback import new_address

from bench import srmp
from openmsmq.wire.srmp import cut_request
from openmsmq.wire.srmp.compact import read_compact

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name: a socket in it has little room for its own."""
    with tempfile.TemporaryDirectory(prefix="bench") as name:
        yield Path(name)


def test_requests_are_in_the_form_of_windows() -> None:
    content_type, data = content(7)
    parsed = cut_request(content_type, data)
    envelope = read_compact(parsed.envelope)
    assert envelope is not None
    assert envelope.path.id.ordinal == 7
    assert request(7).endswith(data)


def test_the_receiving_half_is_measured_beside_a_bare_receiver(folder: Path) -> None:
    found = srmp_receiving.main(folder, 2)
    assert found["receiver"] > found["http"] > found["floor"] > 0


def test_messages_travel_over_http_beside_the_binary_protocol(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Options, "seconds", 0.5)
    run = Run(Options(quick=True), folder, Console(quiet=True))
    sender, receiver = new_address(), new_address()
    srmp.durable(run, sender, receiver)
    srmp.transactional(run, sender, receiver)
    srmp.idle(run, sender, receiver, new_address(), count=20)
    assert set(run.flows) == {
        *("http durable", "binary durable", "http transactional"),
        "http durable, idle connections",
    }
    assert all(rate > 0 for rate in run.figures().values())


def test_every_target_can_be_met_and_missed() -> None:
    others = {
        "floor µs": 1.0,
        "starlette with aiohttp": 10.0,
        "binary durable": 75.0,
        "binary one in flight ms": 1.0,
    }
    good = {"receiver µs": 12.0, "http durable": 30.0, "http transactional": 18.0}
    good |= {"http one in flight ms": 2.0, "http durable, idle connections": 27.0}
    bad = {"receiver µs": 12.1, "http durable": 29.0, "http transactional": 17.0}
    bad |= {"http one in flight ms": 2.1, "http durable, idle connections": 26.0}
    assert [verdict(each, others | good).met for each in SRMP_TARGETS] == [True] * 6
    assert [verdict(each, others | bad).met for each in SRMP_TARGETS] == [False] * 6
