"""Spark from queue to queue, beside the same job into a plain socket.

Reproduce with `python -m bench spark-sink`. Both jobs read the same messages from a real queue and
encode them into packets with the same encoder. The ceiling sends them to a socket that nobody keeps
anything of; the sink stages them at the queue manager and publishes them in one transaction, on
disk.
"""

import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.cloudpickle import register_pickle_by_value
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

import openmsmq
import openmsmq.spark
from bench.report import Result
from bench.spark_source import Serve, in_turn
from openmsmq.spark.connection import open_connection
from openmsmq.spark.options.records import WriteOptions
from openmsmq.spark.writers.partition_write import slices
from openmsmq.spark.writers.publishing import BATCH, Targets
from openmsmq.spark.writers.row_encoder import RowEncoder
from openmsmq.spark.writers.write_columns import write_columns

ROWS: Final = 200_000
ROUNDS: Final = 5
BODY_BYTES: Final = 1024
SOURCE: Final = r".\private$\source"
TARGET: Final = r".\private$\target"
# The sink writes every byte to disk, which the floor does not.
LIMIT: Final = 3.0


@dataclass
class Sent(WriterCommitMessage):
    """What a task of the floor has sent."""

    messages: int


class PlainWriter(DataSourceArrowWriter):
    """Encodes rows as the sink does, and sends them to a socket."""

    def __init__(self, options: WriteOptions, schema: StructType, port: int) -> None:
        self._options = options
        self._columns = write_columns(schema, options)
        self._port = port

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Sent:
        """Write one partition."""
        count = 0
        with (
            open_connection(self._options.connection) as manager,
            socket.create_connection(("127.0.0.1", self._port)) as plain,
        ):
            targets = Targets(manager, BATCH, transactional=None)
            encoder = RowEncoder(self._columns, targets, queue=self._options.queue)
            for batch in iterator:
                for part in slices(batch):
                    for packets in encoder.encode(part).packets.values():
                        plain.sendall(b"".join(packets))
                        count += len(packets)
        return Sent(count)


class PlainSink(DataSource):
    """The floor as a data source."""

    @classmethod
    def name(cls) -> str:
        """The name for `format`."""
        return "plain"

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:  # noqa: ARG002, FBT001 - Spark's signature
        """A batch write."""
        options = {name: value for name, value in self.options.items() if name != "port"}
        return PlainWriter(WriteOptions.parse(options), schema, int(self.options["port"]))


def discard(server: socket.socket) -> None:
    """Read whatever comes, until the server is closed."""
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_drain, args=(connection,), daemon=True).start()


def _drain(connection: socket.socket) -> None:
    space = bytearray(1 << 20)
    with connection:
        while connection.recv_into(space):
            pass


def measure(spark: SparkSession, address: str, port: int) -> tuple[float, float]:
    """Rows a second of the floor and of the sink."""
    register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]  # has no types
    spark.dataSource.register(PlainSink)
    source = spark.read.format("msmq").options(endpoint=address, queue=SOURCE, minPartitions=2)
    frame = source.schema("body binary, label string").load()

    def rate(name: str, **options: int) -> list[float]:
        start = time.perf_counter()
        writer = frame.write.format(name).mode("append").options(**options)
        writer.options(endpoint=address, queue=TARGET).save()
        return [ROWS / (time.perf_counter() - start)]

    def sink() -> list[float]:
        found = rate("msmq")
        with openmsmq.connect(address) as qm:
            if qm.open_queue(TARGET).purge() != ROWS:
                raise RuntimeError("what was written is not what is in the queue")
        return found

    return in_turn(ROUNDS, lambda: rate("plain", port=port), sink)


def run() -> list[Result]:
    """Measure sink and floor in turns, so that other work on the machine meets them alike."""
    build = Path("build")
    build.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="bench-", dir=build) as name,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        threading.Thread(target=discard, args=(server,), daemon=True).start()
        serve = Serve(Path(name).resolve())
        try:
            with openmsmq.connect(serve.address) as qm:
                qm.create_queue(TARGET, transactional=True)
                body = os.urandom(BODY_BYTES)
                messages = (
                    openmsmq.Message(body, "x", delivery="recoverable") for _ in range(ROWS)
                )
                qm.create_queue(SOURCE).send_many(messages)
            spark = openmsmq.spark.session("local[2]", app_name="bench")
            floor, sink = measure(spark, serve.address, server.getsockname()[1])
        finally:
            serve.close()
    name = f"queue to queue, {ROWS:,} rows of {BODY_BYTES} bytes"
    return [Result(f"{name}: ceiling", floor), Result(name, sink, floor / sink, LIMIT)]
