"""Writing to queues of another machine: rows say what their messages are. Without Spark."""

from pathlib import Path

import pyarrow as pa
from pyspark.sql.types import BinaryType, BooleanType, StringType, StructType
from tests.interop.loopback import new_address

import openmsmq
from openmsmq.spark.writers.writer import BatchWriter

WAIT_SECONDS = 60.0
SCHEMA = (
    StructType()
    .add("queue", StringType())
    .add("body", BinaryType())
    .add("transactional", BooleanType())
)


def test_one_batch_has_plain_and_transactional_messages(tmp_path: Path) -> None:
    ours, theirs = new_address(), new_address()
    with (
        openmsmq.embedded(tmp_path / "a", bind=ours, binary_port=1801, name="alpha") as alpha,
        openmsmq.embedded(tmp_path / "b", bind=theirs, binary_port=1801, name="beta") as beta,
    ):
        near = alpha.create_queue(r".\private$\near")
        plain = beta.create_queue(r".\private$\plain")
        exact = beta.create_queue(r".\private$\exact", transactional=True)
        far = rf"DIRECT=TCP:{theirs}\private$"
        rows = [
            (rf"{far}\exact", b"1", True),
            (rf"{far}\plain", b"2", False),
            (r".\private$\near", b"3", True),
            (rf"{far}\exact", b"4", None),
            (r".\private$\near", b"5", False),
            (rf"{far}\plain", b"6", False),
            (r".\private$\near", b"7", None),
        ]
        batch = pa.record_batch(
            [pa.array(list(column)) for column in zip(*rows, strict=True)], names=SCHEMA.names
        )
        options = {"endpoint": alpha.address, "transactionalColumn": "transactional"}
        writer = BatchWriter(options, SCHEMA, overwrite=False)
        written = writer.write(iter([batch]))
        assert near.info()["messages"] == 0
        writer.commit([written])
        writer.commit([writer.write(iter([batch]))])
        for queue, bodies in ((exact, [b"1", b"4"]), (plain, [b"2", b"6"])):
            found = [queue.receive(timeout=WAIT_SECONDS) for _ in bodies]
            assert sorted(message.body_bytes for message in found) == bodies
            assert {message.transactional for message in found} == {queue is exact}
        # A local queue knows itself what it takes, and keeps the order.
        assert [message.body_bytes for message in near.cursor()] == [b"3", b"5", b"7"]
        assert not any(queue.receive_many(1, timeout=0.2) for queue in (plain, exact))
