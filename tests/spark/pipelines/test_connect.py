"""Pipelines over Spark Connect, from a process that has no JVM of its own."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import openmsmq
from openmsmq.spark.pipelines.archive.archiving import RemoteAdding
from openmsmq.spark.pipelines.archive.store import read_archive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ORDERS = r".\private$\orders"
ADMIN = r".\private$\admin"
SECONDS = 400
CLIENT = r"""
import sys
import threading
import openmsmq.spark
from openmsmq.spark.pipelines.archive.archiving import archive
from openmsmq.spark.pipelines.audit.follow import follow_audit

remote, socket, folder = sys.argv[1:]
spark = openmsmq.spark.session(remote)
where = {"endpoint": socket}
result = archive(
    spark, folder, queues=r".\private$\orders", consume="exclusive", max_messages=3, options=where
)
print(result.messages, result.batches)
stop = threading.Event()
result = follow_audit(
    spark,
    [";journal"],
    [r".\private$\admin"],
    folder + ".audit",
    endpoint=socket,
    stop=stop,
    tell=lambda summary: stop.set() if summary.headline.startswith("5 of 5") else None,
)
print(result.sends, result.counts["read"])
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
@pytest.mark.timeout(SECONDS + 100)  # a process that loads Spark, on a machine that may be busy
def test_the_server_writes_an_archive_and_follows_an_audit(
    spark: "SparkSession", remote: str, tmp_path: Path
) -> None:
    folder = tmp_path / "archive"
    with openmsmq.embedded() as manager:
        orders = manager.create_queue(ORDERS)
        manager.create_queue(ADMIN)
        asks: dict[str, Any] = {"journal": True, "acknowledge": "full", "admin_queue": ADMIN}
        orders.send_many(openmsmq.Message(str(number), **asks) for number in range(5))
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
        # What the archive takes from the queue is read, as the audit finds.
        assert done.stdout == "5 2\n5 5\n"
        assert orders.info()["messages"] == 0
    assert read_archive(spark, folder).count() == 5


def test_what_travels_to_the_server_is_the_folder_and_an_option(tmp_path: Path) -> None:
    made, arguments = RemoteAdding(tmp_path, accept_loss=True).__reduce__()
    assert isinstance(made, partial)
    assert (made.func, made.keywords, arguments) == (
        RemoteAdding,
        {"accept_loss": True},
        (tmp_path,),
    )
