"""Connections of the data source: over the network, and to a queue manager that is not there."""

import hashlib
import threading
import time
from pathlib import Path

import pytest
from tests.spark.reading import ORDERS, Stream, batch_rows, labels, send

import openmsmq
from openmsmq.client.errors import ConnectionLost
from openmsmq.spark.connection import open_connection
from openmsmq.spark.options.records import ConnectionOptions
from openmsmq.spark.readers import range_reader
from openmsmq.wire.errors import ConfigError

CERTIFICATES = Path(__file__).parents[1] / "client" / "certificates"


def test_a_queue_manager_is_waited_for(tmp_path: Path) -> None:
    opened: list[openmsmq.QueueManager] = []
    options = ConnectionOptions(str(tmp_path / "openmsmq.sock"), timeout=20.0)
    waiting = threading.Thread(target=lambda: opened.append(open_connection(options)))
    waiting.start()
    time.sleep(0.3)
    with openmsmq.embedded(tmp_path):
        waiting.join(20)
        opened[0].close()


def test_a_queue_manager_that_does_not_come_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConnectionLost, match="no queue manager answers"):
        open_connection(ConnectionOptions(str(tmp_path / "nobody.sock"), timeout=0.0))


def test_a_token_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    options = ConnectionOptions("127.0.0.1:1", token_file=str(tmp_path / "token"))
    with pytest.raises(ConfigError, match=r"option auth\.tokenFile: .*token"):
        open_connection(options)


def test_queues_are_read_over_the_network_with_a_token_from_a_file(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(f'"{hashlib.sha256(b"secret").hexdigest()}" = "user:root"\n')
    (tmp_path / "token").write_text("secret\n")
    certificate = CERTIFICATES / "localhost.pem"
    running = openmsmq.embedded(
        local_port=0,
        local_certificate=certificate,
        local_key=CERTIFICATES / "localhost.key",
        local_tokens=tokens,
    )
    try:
        over_tls = {
            "endpoint": running.endpoints["local-tcp"],
            "auth.tokenFile": str(tmp_path / "token"),
            "auth.caFile": str(certificate),
        }
        with running.connect() as qm:
            qm.create_queue(ORDERS)
            send(qm, "a", "b")
            assert labels(batch_rows(qm, **over_tls)) == ["a", "b"]
            stream = Stream(qm, consume="lease", consumerName="far", **over_tls)
            assert stream.all() == ["a", "b"]
            assert "secret" not in str(stream.at)
            stream.reader.stop()
    finally:
        running.close()


class Gone:
    """A queue manager that answers and is killed then."""

    def __enter__(self) -> "Gone":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def open_queue(self, *_: object) -> None:
        raise ConnectionLost("gone")


def test_a_task_goes_on_also_before_its_first_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Gone] = []

    def open_later(options: ConnectionOptions) -> object:
        if len(made) < 2:
            made.append(Gone())
            return made[-1]
        return open_connection(options)

    with openmsmq.embedded(tmp_path) as qm:
        qm.create_queue(ORDERS)
        send(qm, "a", "b")
        monkeypatch.setattr(range_reader, "open_connection", open_later)
        monkeypatch.setattr(range_reader, "RETRY_SECONDS", 0.01)
        assert labels(batch_rows(qm)) == ["a", "b"]
        assert len(made) == 2
        # But not for ever.
        monkeypatch.setattr(range_reader, "open_connection", lambda _: Gone())
        with pytest.raises(ConnectionLost, match="gone"):
            batch_rows(qm, connectTimeout="50ms")


def test_a_task_goes_on_where_it_was_when_the_queue_manager_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(range_reader, "BATCH_ROWS", 50)
    names = [str(number) for number in range(300)]
    with openmsmq.embedded(tmp_path) as qm:
        queue = qm.create_queue(ORDERS)
        # More than what a connection holds.
        queue.send_many(
            openmsmq.Message(bytes(50_000), label=name, delivery="recoverable") for name in names
        )
        stream = Stream(qm, connectTimeout="20s")
        (part,) = stream.reader.partitions(stream.at, stream.plan())
        batches = stream.reader.read(part)
        found = [next(batches)]
        stream.reader.stop()
    with openmsmq.embedded(tmp_path):
        found += batches
    assert [label for batch in found for label in batch["label"].to_pylist()] == names
