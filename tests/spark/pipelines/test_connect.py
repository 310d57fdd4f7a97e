"""Pipelines over Spark Connect, from a process that has no JVM of its own."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import openmsmq
from openmsmq.spark.pipelines.archive import RemoteAdding
from openmsmq.spark.pipelines.archive_store import read_archive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = r".\private$\orders"
SECONDS = 200
CLIENT = r"""
import sys
import openmsmq.spark
from openmsmq.spark.pipelines.archive import archive

remote, socket, folder = sys.argv[1:]
spark = openmsmq.spark.session(remote)
where = {"endpoint": socket}
result = archive(
    spark, folder, queues=r".\private$\orders", consume="exclusive", max_messages=3, options=where
)
print(result.messages, result.batches)
spark.stop()
"""


@pytest.fixture
def remote(spark: "SparkSession") -> Iterator[str]:
    """The address of a Spark Connect server in the JVM that is there."""
    # The classic session is of no other kind here, and JVM objects have no types.
    jvm: Any = spark.sparkContext._jvm
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = spark.sparkContext._jsc.sc()
    context.conf().set("spark.connect.grpc.binding.port", str(port))
    context.conf().set("spark.connect.grpc.binding.address", "127.0.0.1")
    service = jvm.org.apache.spark.sql.connect.service.SparkConnectService
    service.start(context)
    yield f"sc://127.0.0.1:{port}"
    none = jvm.scala.Option.empty()
    service.stop(none, none)


@pytest.mark.soak
@pytest.mark.timeout(300)  # a process that loads Spark, where many tests run side by side
def test_an_archive_is_written_by_the_server(
    spark: "SparkSession", remote: str, tmp_path: Path
) -> None:
    folder = tmp_path / "archive"
    with openmsmq.embedded() as manager:
        orders = manager.create_queue(ORDERS)
        orders.send_many(openmsmq.Message(str(number), label="order") for number in range(5))
        environ = {name: value for name, value in os.environ.items() if "SPARK" not in name}
        done = subprocess.run(
            [sys.executable, "-c", CLIENT, remote, manager.address, str(folder)],
            env=environ,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == "5 2\n"
        assert orders.info()["messages"] == 0
    assert read_archive(spark, folder).count() == 5


def test_what_travels_to_the_server_is_the_folder_alone(tmp_path: Path) -> None:
    made, arguments = RemoteAdding(tmp_path).__reduce__()
    assert (made, arguments) == (RemoteAdding, (tmp_path,))
