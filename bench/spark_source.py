"""Reading a queue with Spark, beside the most that Spark can read at all.

Reproduce with `python -m bench spark-source` (or `make bench`), with `--json` for JSON lines. It
takes a few minutes and 1 GB of disk under the folder for temporary files.

A real `openmsmq serve` holds recoverable messages of 1 KiB, all of them on disk. The ceiling is a
bare socket server that sends blocks of the same packets, kept ready in memory, to a data source
that decodes them with the same decoder: what is left is Spark itself. Both read all columns in two
partitions into the sink that does nothing, in turn; the figures are medians, of whole jobs for
batch reads and of single batches of 200,000 rows for streams. "Times the floor" is the ceiling
divided by ours; two would be half of the ceiling.
"""

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType
from tools.compile import environment, is_fresh

import openmsmq
import openmsmq.spark
from bench.report import Result
from openmsmq.protocol.local import messages as local
from openmsmq.spark.columns import message_schema
from openmsmq.spark.decoding.block_decoder import BlockDecoder

BATCH_ROWS: Final = 200_000
ROWS: Final = 3 * BATCH_ROWS
BLOCK_ROWS: Final = 2000
PARTITIONS: Final = 2
ROUNDS: Final = 5
STREAMS: Final = 2
LIMIT: Final = 2.0
QUEUE: Final = r".\private$\bench"
BODY_SIZE: Final = 1024
# So many blocks are kept ready; the ceiling sends them again and again.
READY_BLOCKS: Final = 50
START_SECONDS: Final = 60.0
# Lengths and counts on the wire.
NUMBER_BYTES: Final = 4


# The ceiling


class BlockServer:
    """Sends blocks that are ready in memory to whoever asks for a number of them."""

    def __init__(self, blocks: list[bytes]) -> None:
        self._blocks = blocks
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._pid = os.fork()
        if not self._pid:
            self._serve()

    def _serve(self) -> None:
        while True:
            client, _ = self._socket.accept()
            threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client: socket.socket) -> None:
        with client:
            for number in range(received_number(client)):
                client.sendall(self._blocks[number % len(self._blocks)])

    def close(self) -> None:
        os.kill(self._pid, 9)
        os.waitpid(self._pid, 0)
        self._socket.close()


def number_bytes(number: int) -> bytes:
    return number.to_bytes(NUMBER_BYTES, "little")


def received_number(sock: socket.socket) -> int:
    return int.from_bytes(sock.recv(NUMBER_BYTES, socket.MSG_WAITALL), "little")


def received_blocks(port: int, count: int) -> Iterator[local.Block]:
    """Blocks of the server, read with as little as can be."""
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(number_bytes(count))
        for _ in range(count):
            length = received_number(sock)
            memory = memoryview(bytearray(length))
            filled = 0
            while filled < length:
                filled += sock.recv_into(memory[filled:])
            block = local.decode_reply(memory)
            assert isinstance(block, local.Block)
            yield block


class Share(InputPartition):
    """So many rows."""

    def __init__(self, rows: int) -> None:
        super().__init__(None)
        self.rows = rows


class CeilingReader(DataSourceReader):
    """Reads blocks of the server and decodes them."""

    def __init__(self, port: int, schema: pa.Schema) -> None:
        self._port = port
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        return shares(ROWS)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return decoded(self._port, self._schema, partition)


class CeilingStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The same as a stream."""

    def __init__(self, port: int, schema: pa.Schema) -> None:
        self._port = port
        self._schema = schema

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        return {"at": 0}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        pass

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: ARG002, N802 - Spark's name
        return {"at": min(start["at"] + BATCH_ROWS, ROWS)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return shares(end["at"] - start["at"])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return decoded(self._port, self._schema, partition)


class Ceiling(DataSource):
    """The format `ceiling`."""

    @classmethod
    def name(cls) -> str:
        return "ceiling"

    def schema(self) -> StructType:
        return from_arrow_schema(message_schema(), prefer_timestamp_ntz=False)

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark's signature
        return CeilingReader(int(self.options["port"]), message_schema())

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802 - as above
        return CeilingStreamReader(int(self.options["port"]), message_schema())


def shares(rows: int) -> list[InputPartition]:
    return [Share(rows // PARTITIONS) for _ in range(PARTITIONS)]


def decoded(port: int, schema: pa.Schema, partition: InputPartition) -> Iterator[pa.RecordBatch]:
    assert isinstance(partition, Share)
    decoder = BlockDecoder(schema, queue="bench", queue_kind="queue")
    for block in received_blocks(port, partition.rows // BLOCK_ROWS):
        yield decoder.decode(block)


# Ours


class Serve:
    """A queue manager in a process of its own, with a full queue."""

    def __init__(self, data: Path) -> None:
        ready = data / "ready.json"
        ports = ("binary", "ping", "http", "rpc", "qm2qm", "epm", "console")
        closed = [word for name in ports for word in (f"--{name}-port", "off")]
        program = [sys.executable, "-c", "from openmsmq.cli import main; main()", "serve"]
        self._process = subprocess.Popen(
            [*program, "--data", str(data), "--ready-file", str(ready), *closed],
            env=environment() if is_fresh() else None,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + START_SECONDS
        while not ready.exists():
            assert time.monotonic() < end, "the queue manager did not start"
            time.sleep(0.05)
        self.address = str(data / "openmsmq.sock")

    def fill(self) -> list[bytes]:
        """Send the messages; return some blocks of them as they are on the wire."""
        bodies = [os.urandom(BODY_SIZE) for _ in range(1000)]
        with openmsmq.connect(self.address) as manager:
            queue = manager.create_queue(QUEUE)
            queue.send_many(
                openmsmq.Message(
                    bodies[number % len(bodies)],
                    label=f"order {number}",
                    delivery="recoverable",
                    app_specific=number,
                )
                for number in range(ROWS)
            )
            upto = queue.ranges.plan(0, max_rows=READY_BLOCKS * BLOCK_ROWS).end
            payloads = map(local.encode, queue.ranges.peek(0, upto, block_rows=BLOCK_ROWS))
            return [number_bytes(len(payload)) + payload for payload in payloads]

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


# Measuring


def batch_rate(frame: DataFrame) -> float:
    """Rows a second of one batch read."""
    start = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return ROWS / (time.perf_counter() - start)


def stream_rates(frame: DataFrame, checkpoint: Path) -> list[float]:
    """Rows a second of each batch of a stream over all rows."""
    query = (
        frame.writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return [
        each.numInputRows / each.durationMs["triggerExecution"] * 1000
        for each in query.recentProgress
        if each.numInputRows == BATCH_ROWS
    ]


def in_turn(
    rounds: int, floor: Callable[[], list[float]], ours: Callable[[], list[float]]
) -> tuple[float, float]:
    """Medians of both, measured in turn; the first round warms up."""
    rates: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for found, measure in zip(rates, (floor, ours), strict=True):
            measured = measure()
            if number:
                found += measured
    return statistics.median(rates[0]), statistics.median(rates[1])


def measure(spark: SparkSession, serve: Serve, port: int, folder: Path) -> list[Result]:
    register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]  # has no types
    spark.dataSource.register(Ceiling)
    options: dict[str, Any] = {
        "endpoint": serve.address,
        "queue": QUEUE,
        "minPartitions": PARTITIONS,
    }
    limited = {**options, "maxMessagesPerTrigger": BATCH_ROWS}
    floor_frame = spark.read.format("ceiling").option("port", port).load()
    ours_frame = spark.read.format("msmq").options(**options).load()
    floor_stream = spark.readStream.format("ceiling").option("port", port).load()
    ours_stream = spark.readStream.format("msmq").options(**limited).load()
    batch = in_turn(ROUNDS, lambda: [batch_rate(floor_frame)], lambda: [batch_rate(ours_frame)])
    checkpoints = (folder / str(number) for number in range(1000))
    stream = in_turn(
        STREAMS,
        lambda: stream_rates(floor_stream, next(checkpoints)),
        lambda: stream_rates(ours_stream, next(checkpoints)),
    )
    results: list[Result] = []
    for name, (floor, ours) in (
        (f"batch read of {ROWS:,} rows", batch),
        (f"stream, {BATCH_ROWS:,} rows a batch", stream),
    ):
        results += [Result(f"{name}: ceiling", floor), Result(name, ours, floor / ours, LIMIT)]
    return results


def run() -> list[Result]:
    """Every figure."""
    build = Path("build")
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=build) as name:
        folder = Path(name).resolve()
        (folder / "data").mkdir()
        serve = Serve(folder / "data")
        try:
            server = BlockServer(serve.fill())
            try:
                spark = openmsmq.spark.session(f"local[{PARTITIONS}]", app_name="bench")
                return measure(spark, serve, server.port, folder)
            finally:
                server.close()
        finally:
            serve.close()
