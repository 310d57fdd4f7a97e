"""The key of a replay tells apart what must not be mixed, from wherever it is called."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.server.raw_client import ROOT

import openmsmq
from openmsmq.spark.pipelines.replay import replaying as replay_module
from openmsmq.spark.pipelines.replay.filter import ReplayFilter
from openmsmq.spark.pipelines.replay.job import ReplayJob
from openmsmq.spark.pipelines.replay.key import default_key, default_state, full_endpoint
from openmsmq.spark.pipelines.replay.replaying import ReplayResult, replay
from openmsmq.spark.pipelines.replay.state import ReplayState
from openmsmq.spark.pipelines.support.durable import only_writer
from openmsmq.spark.pipelines.support.errors import PipelineError

SPARK: Any = None
DEAD = ";deadletter"


@pytest.fixture
def nothing_to_send(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources are empty, and Spark is not needed."""
    counts = SimpleNamespace(selected=0, already_sent=0, not_sendable=0, groups=())
    monkeypatch.setattr(ReplayJob, "rows", lambda *_arguments, **_more: None)
    monkeypatch.setattr(replay_module._Counts, "of", lambda _rows: counts)


def key_of(source: str, manager: str = "guid") -> str:
    return default_key(source, None, ReplayFilter(), "keep", manager)


def test_every_part_of_a_replay_makes_another_key() -> None:
    keys = {
        key_of(DEAD),
        key_of(";deadxact"),
        key_of(f"/a/socket::{DEAD}"),
        key_of(DEAD, "other guid"),
        default_key(DEAD, r".\private$\a", ReplayFilter(), "keep", "guid"),
        default_key(DEAD, None, ReplayFilter(label="a"), "keep", "guid"),
        default_key(DEAD, None, ReplayFilter(), "new", "guid"),
    }
    assert len(keys) == 7


def test_a_folder_has_one_key_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for base in ("a", "b"):
        (tmp_path / base / "orders").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a")
    first = key_of("orders")
    assert key_of(str(tmp_path / "a" / "orders")) == first
    monkeypatch.chdir(tmp_path / "b")
    assert key_of("orders") != first
    assert key_of("../a/orders") == first


def test_an_endpoint_is_the_same_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert full_endpoint("a.sock") == str(tmp_path / "a.sock")
    assert full_endpoint("host:4000") == "host:4000"
    monkeypatch.setenv("OPENMSMQ_SOCKET", "/run/a.sock")
    assert full_endpoint(None) == "/run/a.sock"
    assert key_of(f"./a.sock::{DEAD}") == key_of(f"{tmp_path}/a.sock::{DEAD}")


@pytest.mark.usefixtures("nothing_to_send")
def test_a_replay_through_another_queue_manager_has_another_key_and_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found: list[ReplayResult] = []
    with openmsmq.embedded(tmp_path / "a") as one, openmsmq.embedded(tmp_path / "b") as two:
        found += [replay(SPARK, DEAD, endpoint=each.address, send=True) for each in (one, two)]
        # The same one in other words, and in a dry run.
        link = tmp_path / "link"
        link.symlink_to(one.address)
        found.append(replay(SPARK, DEAD, endpoint=str(link)))
    assert [each.key == found[0].key for each in found] == [True, False, True]
    folders = {path.name for path in (tmp_path / "state" / "openmsmq" / "replay").iterdir()}
    assert folders == {each.key for each in found}
    assert default_state("x") == tmp_path / "state" / "openmsmq" / "replay" / "x"


@pytest.mark.usefixtures("nothing_to_send")
def test_a_key_belongs_to_one_queue_manager(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with openmsmq.embedded(tmp_path / "a") as one, openmsmq.embedded(tmp_path / "b") as two:
        for _ in range(2):
            replay(SPARK, DEAD, endpoint=one.address, key="k", state=state, send=True)
        with pytest.raises(PipelineError, match=f"{one.identity.guid} was sent, not"):
            replay(SPARK, DEAD, endpoint=two.address, key="k", state=state, send=True)


@pytest.mark.usefixtures("nothing_to_send")
def test_a_dry_run_without_a_queue_manager_says_what_it_does_not_know(tmp_path: Path) -> None:
    nobody = str(tmp_path / "nobody.sock")
    unknown = "No queue manager answers"
    for given, warns in (({}, True), ({"key": "k"}, False), ({"state": tmp_path}, False)):
        more: dict[str, Any] = dict(given)
        warnings = replay(SPARK, str(ROOT / "docs"), endpoint=nobody, **more).summary().warnings
        assert any(unknown in warning for warning in warnings) == warns


def test_what_was_chosen_is_read_behind_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen(*_: object) -> None:
        raise AssertionError("read while another run sends")

    monkeypatch.setattr(replay_module, "ask_manager", lambda *_, **_more: "guid")
    monkeypatch.setattr(ReplayState, "chosen", chosen)
    with only_writer(tmp_path), pytest.raises(PipelineError, match="another process"):
        replay(SPARK, DEAD, key="k", state=tmp_path, send=True)
    # And nobody else may send between that and the end.
    free: list[bool] = []

    def rows(*_: object, **_more: object) -> None:
        free.append(is_free(tmp_path))

    monkeypatch.setattr(ReplayState, "chosen", lambda *_: None)
    monkeypatch.setattr(ReplayJob, "rows", rows)
    monkeypatch.setattr(replay_module._Counts, "of", stop)
    for send in (True, False):
        with pytest.raises(KeyboardInterrupt):
            replay(SPARK, DEAD, key="k", state=tmp_path, send=send)
    assert free == [False, True]


def stop(_rows: object) -> None:
    raise KeyboardInterrupt


def is_free(folder: Path) -> bool:
    try:
        with only_writer(folder):
            return True
    except PipelineError:
        return False
