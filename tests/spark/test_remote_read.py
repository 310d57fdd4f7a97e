"""Queues of a server that is read over RPC, driven as Spark drives the data source."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.spark.reading import ORDERS, Stream, full_schema, labels, rows_of

import openmsmq
from openmsmq.client.blocking.queue_manager import QueueManager
from openmsmq.service.account_file import AccountFile
from openmsmq.spark.connection import open_connection
from openmsmq.spark.errors import DataLoss
from openmsmq.spark.options.records import ReadOptions, WriteOptions
from openmsmq.spark.readers.batch_reader import BatchReader
from openmsmq.spark.readers.stream_reader import StreamReader
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError

PASSWORD = "correct horse battery staple"
# The server tells seconds only.
COARSE = ("arrived_time", "last_move_time")


class Server:
    """A queue manager whose queue ada may look at over RPC."""

    def __init__(self, manager: QueueManager, folder: Path, sid: str) -> None:
        self.manager = manager
        self.name = manager.identity.name
        manager.create_queue(ORDERS)
        manager.grant(ORDERS, sid, ["peek"])
        self.remote = {
            "endpoint": f"msmq://{manager.status()['endpoints']['rpc']}",
            "auth.user": "ada",
            "auth.passwordFile": str(folder / "password"),
            "connectTimeout": "2s",
        }
        self.local = {"endpoint": manager.address}

    def fill(self, count: int, start: int = 0) -> None:
        """Send messages with properties that differ; every fifth has a higher priority."""
        self.manager.open_queue(ORDERS, "send").send_many(
            openmsmq.Message(
                "ß" * (number % 7) if number % 3 else bytes(100 * (number % 11)),
                label=f"{number}",
                priority=6 if number % 5 == 0 else 3,
                time_to_reach_queue=1000 + number if number % 2 else None,
                delivery="recoverable" if number % 4 else "express",
                app_specific=number,
                response_queue=rf"DIRECT=OS:{self.name}\private$\answers",
            )
            for number in range(start, start + count)
        )


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    account = AccountFile(data).add("ada", PASSWORD, None)
    (tmp_path / "password").write_text(PASSWORD + "\n")
    with openmsmq.embedded(data, rpc_port=0) as manager:
        yield Server(manager, tmp_path, str(account.sid))


def options(given: dict[str, str], **more: str) -> dict[str, str]:
    return {"queue": ORDERS, **given, **{name.replace("__", "."): more[name] for name in more}}


def batch(given: dict[str, str], **more: str) -> list[dict[str, Any]]:
    parsed = ReadOptions.parse(options(given, **more))
    reader = BatchReader(parsed, full_schema(parsed))
    return rows_of(reader, reader.partitions())


def stream(given: dict[str, str], at: Any = None, **more: str) -> Stream:
    parsed = ReadOptions.parse(options(given, **more))
    made = Stream.__new__(Stream)
    made.reader = StreamReader(parsed, full_schema(parsed))
    made.at = made.reader.initialOffset() if at is None else at
    return made


def coarse(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with times as exact as a server tells them, and without what it does not tell."""
    return [
        {
            name: value.replace(microsecond=0) if name in COARSE and value else value
            for name, value in row.items()
            if name != "transport"
        }
        for row in rows
    ]


def test_a_batch_equals_the_local_one_row_for_row(server: Server) -> None:
    server.fill(300)
    every = {
        "include": "headers,body,security",
        "queue": rf"DIRECT=OS:{server.name}\private$\orders",
    }
    found = batch(server.remote, **every)
    assert len(found) == 300
    assert coarse(found) == coarse(batch(server.local, **every))
    assert labels(found) == [str(number) for number in range(300)]


def test_partitions_share_the_rows_and_name_the_queue_by_the_server(server: Server) -> None:
    server.fill(50)
    parsed = ReadOptions.parse(options(server.remote, minPartitions="4"))
    reader = BatchReader(parsed, full_schema(parsed))
    parts = reader.partitions()
    assert len(parts) == 4
    rows = rows_of(reader, parts)
    assert labels(rows) == [str(number) for number in range(50)]
    assert {row["queue"] for row in rows} == {r"DIRECT=TCP:127.0.0.1\private$\orders"}


def test_a_stream_equals_the_local_one_and_goes_on(server: Server) -> None:
    server.fill(40)
    limits = {"maxMessagesPerTrigger": "25", "queue": rf"DIRECT=OS:{server.name}\private$\orders"}
    far, near = stream(server.remote, **limits), stream(server.local, **limits)
    for _ in range(2):
        assert coarse(far.batch()) == coarse(near.batch())
    server.fill(10, start=40)
    # What the queue holds is known anew after a moment.
    far = stream(server.remote, far.at, **limits)
    assert labels(far.batch()) == labels(near.batch()) == [str(n) for n in range(40, 50)]
    assert far.plan() == far.at
    counts = {entry["n"]: entry["seq"] for entry in far.at["queues"].values()}
    assert counts == {entry["n"]: entry["seq"] for entry in near.at["queues"].values()}


def test_a_stream_sees_new_messages_over_one_connection(server: Server) -> None:
    far = stream(server.remote)
    assert far.batch() == []
    server.fill(3)
    deadline = threading.Event()
    found: list[str] = []
    for _ in range(100):
        found += labels(far.batch())
        if found:
            break
        deadline.wait(0.1)
    assert found == ["0", "1", "2"]


def test_a_repeated_batch_is_compared_before_tasks_start(server: Server) -> None:
    server.fill(10)
    first = stream(server.remote)
    end = first.plan()
    with server.manager.open_queue(ORDERS) as queue:
        queue.receive()
    again = stream(server.remote, first.at)
    with pytest.raises(DataLoss, match="10 messages were planned"):
        again.reader.partitions(again.at, end)


def test_a_task_reports_what_is_no_longer_there(server: Server) -> None:
    server.fill(10)
    parsed = ReadOptions.parse(options(server.remote))
    reader = BatchReader(parsed, full_schema(parsed))
    parts = reader.partitions()
    with server.manager.open_queue(ORDERS) as queue:
        queue.receive_many(2)
    with pytest.raises(DataLoss, match="8 were there"):
        rows_of(reader, parts)


def test_timestamps_offsets_and_conditions_select_messages(server: Server) -> None:
    server.fill(20)
    assert labels(batch(server.remote, where__label="7")) == ["7"]
    assert batch(server.remote, startingTimestamp="2100-01-01") == []
    assert len(batch(server.remote, endingTimestamp="2100-01-01")) == 20
    seq = batch(server.remote)[4]["seq"]
    key = r"DIRECT=OS:.\private$\orders"
    assert len(batch(server.remote, startingOffsets=json.dumps({key: seq}))) == 15
    assert labels(batch(server.remote, order="queue"))[:4] == ["0", "5", "10", "15"]


def test_a_journal_is_read_by_kind(server: Server) -> None:
    server.manager.set_queue(ORDERS, journal=True)
    server.fill(3)
    with server.manager.open_queue(ORDERS) as queue:
        queue.receive_many(3)
    rows = batch(server.remote, kind="journal")
    assert {row["queue_kind"] for row in rows} == {"journal"}
    assert labels(rows) == labels(batch(server.local, kind="journal"))


@pytest.mark.parametrize("consume", ["exclusive", "lease"])
def test_modes_that_remove_are_refused_with_the_reason(consume: str) -> None:
    given = {"endpoint": "msmq://server", "consume": consume, "consumerName": "daily"}
    with pytest.raises(ConfigError, match=f"option consume: {consume} needs a queue manager"):
        ReadOptions.parse(options(given))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"auth.token": "t"}, "option auth.token: not with endpoint=msmq"),
        ({"auth.user": "ada"}, "option auth.passwordFile: needed"),
        ({"auth.passwordFile": "f"}, "option auth.passwordFile: needs auth.user"),
        ({"auth.user": "ada", "auth.passwordFile": "f", "auth.level": "none"}, "option auth.level"),
        ({"auth.level": "secret"}, "option auth.level: cannot be used"),
        ({"endpoint": "msmq://server:0"}, "option endpoint: address: msmq://server:0"),
        ({"kind": "outgoing"}, "option kind: outgoing"),
        ({"queuePattern": "*"}, "option queuePattern: queues cannot be listed"),
    ],
)
def test_options_that_do_not_go_with_a_server_are_refused(
    given: dict[str, str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENMSMQ_RPC_USER", raising=False)
    monkeypatch.delenv("OPENMSMQ_RPC_PASSWORD_FILE", raising=False)
    whole = options({"endpoint": "msmq://server", **given})
    if "queuePattern" in given:
        del whole["queue"]
    with pytest.raises(ConfigError) as caught:
        ReadOptions.parse(whole)
    assert reason in str(caught.value)


def test_users_of_servers_are_refused_for_queue_managers() -> None:
    with pytest.raises(ConfigError, match=r"option auth\.user: for endpoint=msmq://host only"):
        ReadOptions.parse(options({"endpoint": "/run/openmsmq.sock", "auth.user": "ada"}))


def test_writing_over_remote_read_is_refused() -> None:
    with pytest.raises(ConfigError, match="messages cannot be sent"):
        WriteOptions.parse(options({"endpoint": "msmq://server"}))


def test_user_and_password_file_come_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENMSMQ_RPC_USER", "ada")
    monkeypatch.setenv("OPENMSMQ_RPC_PASSWORD_FILE", server.remote["auth.passwordFile"])
    server.fill(2)
    assert labels(batch({"endpoint": server.remote["endpoint"]})) == ["0", "1"]


def test_a_password_file_that_is_missing_or_wrong_is_named(server: Server, tmp_path: Path) -> None:
    (tmp_path / "wrong").write_text("wrong\n")
    missing = ReadOptions.parse(
        options({**server.remote, "auth.passwordFile": str(tmp_path / "no")})
    )
    with pytest.raises(ConfigError, match=r"option auth\.passwordFile: .*no"):
        open_connection(missing.connection)
    with pytest.raises(QueueError, match="MQ_ERROR_ACCESS_DENIED") as caught:
        batch({**server.remote, "auth.passwordFile": str(tmp_path / "wrong")})
    assert "wrong" not in str(caught.value).replace("are wrong", "")


def test_the_password_is_not_in_options(server: Server) -> None:
    assert PASSWORD not in repr(ReadOptions.parse(options(server.remote)))
