"""The benchmark of remote read measures equal work, and says what it found."""

import json
from pathlib import Path

import pytest
from bench.brokers import Options
from bench.peers import dcerpcd
from bench.peers.empty_calls import EmptyCalls, processor_time
from bench.peers.remote_site import QUEUE, BareServer, RemoteSite
from bench.targets import REMOTE_READ_TARGETS, verdict
from rich.console import Console

from bench import ndr, remote_read

QUICK = Options(quick=True, install=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> object:
    with RemoteSite(tmp_path_factory.mktemp("site"), compiled=False) as broker:
        assert isinstance(broker, RemoteSite)
        broker.create_queue()
        yield broker


@pytest.mark.parametrize(
    ("kind", "authenticated"),
    [("local", False), ("many", False), ("many", True), ("one", True), ("impacket", True)],
)
def test_every_reader_takes_all_messages(
    site: RemoteSite, kind: str, *, authenticated: bool
) -> None:
    assert site.read(kind, 20, authenticated=authenticated) > 0


def test_a_reader_that_finds_no_message_is_an_error(
    site: RemoteSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "fill", lambda _count: None)
    monkeypatch.setattr("bench.peers.remote_site.QUEUE", QUEUE + "-that-is-not-there")
    with pytest.raises(RuntimeError, match="MQ_ERROR_QUEUE_NOT_FOUND"):
        site.read("many", 1, authenticated=False)


def test_both_servers_answer_empty_calls(site: RemoteSite, tmp_path: Path) -> None:
    with BareServer(tmp_path) as bare:
        for broker in (bare, site):
            calls = EmptyCalls("127.0.0.1", broker.port, binds=broker is site)
            for in_flight in remote_read.IN_FLIGHT:
                calls.run(48, in_flight)
            assert processor_time(broker, calls, 16, 0.0) >= 0
            calls.close()


def test_every_target_is_of_figures_that_the_run_measures(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Site(RemoteSite):
        def read(self, kind: str, count: int, *, authenticated: bool) -> float:
            del kind, authenticated
            return float(count)

    monkeypatch.setattr(remote_read, "RemoteSite", Site)
    monkeypatch.setattr(remote_read, "processor_time", lambda *_: 2.0)
    monkeypatch.setattr(dcerpcd, "need_samba", lambda **_: None)
    monkeypatch.setattr(dcerpcd, "SambaServer", BareServer)
    monkeypatch.setattr(dcerpcd, "calls_per_second", lambda *_: 3.0)
    monkeypatch.setattr(ndr, "ROUNDS", 1)
    run = remote_read.Run(QUICK, tmp_path, Console(quiet=True))
    run.all()
    assert not run.missing
    verdicts = [verdict(target, run.figures()) for target in REMOTE_READ_TARGETS]
    assert all(each.met is not None for each in verdicts)
    assert json.dumps(run.figures())
