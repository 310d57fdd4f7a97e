"""Read, write and stream on a real cluster of two workers, and over Spark Connect."""

import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest
from tests.net.certificate import Authority
from tests.server.raw_client import ROOT, Serve, serving
from tests.spark.cluster_driver import BILLS, COUNT, ORDERS

import openmsmq
from openmsmq.spark.java import java_home

PROGRAMS = Path(pyspark.__file__).parent / "bin"
START_SECONDS = 120.0
DRIVER_SECONDS = 600.0
STOP_SECONDS = 60.0
LOCALHOST = "127.0.0.1"

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1200)]


def free_port() -> int:
    with socket.create_server((LOCALHOST, 0)) as server:
        port: int = server.getsockname()[1]
        return port


def environ(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "JAVA_HOME": str(java_home()),
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": LOCALHOST,
        "SPARK_LOCAL_DIRS": str(folder),
    }


@contextmanager
def running(folder: Path, name: str, *command: str) -> Iterator[Path]:
    """A program of Spark with a log; it is stopped by its process id."""
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environ(folder), stdout=output, stderr=output
        )
    try:
        yield log
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


def wait_for(log: Path, text: str, times: int = 1) -> None:
    end = time.monotonic() + START_SECONDS
    while log.read_text().count(text) < times:
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.1)


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A standalone master with two workers; yields its address."""
    port = free_port()
    master = f"spark://{LOCALHOST}:{port}"
    start = str(PROGRAMS / "spark-class")
    at = ("--host", LOCALHOST, "--webui-port", "0")
    with ExitStack() as stack:
        kind = "org.apache.spark.deploy.master.Master"
        log = stack.enter_context(running(folder, "master", start, kind, *at, "--port", str(port)))
        wait_for(log, "I have been elected leader")
        for number in range(2):
            kind = "org.apache.spark.deploy.worker.Worker"
            size = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"work{number}"))
            stack.enter_context(running(folder, f"worker{number}", start, kind, *at, *size, master))
        wait_for(log, "Registering worker", 2)
        yield master


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A Spark Connect server; yields its address."""
    port = free_port()
    command = (
        *(str(PROGRAMS / "spark-submit"), "--master", "local[2]"),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *("--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.ui.enabled=false"),
        *("--conf", f"spark.driver.host={LOCALHOST}", "spark-internal"),
    )
    with running(folder, "connect", *command) as log:
        wait_for(log, "Spark Connect server started at")
        yield f"sc://{LOCALHOST}:{port}"


def on_the_network(folder: Path) -> tuple[Path, dict[str, str]]:
    """A file of settings for a queue manager with a port, and what its clients need to know."""
    authority = Authority(folder)
    certificate, key = authority.issue(LOCALHOST)
    tokens, token = folder / "tokens.toml", folder / "token"
    tokens.write_text(f'"{hashlib.sha256(b"secret").hexdigest()}" = "uid:{os.geteuid()}"\n')
    token.write_text("secret\n")
    settings = folder / "qm.toml"
    settings.write_text(
        f'bind = "{LOCALHOST}"\nlocal_port = 0\nlocal_certificate = "{certificate}"\n'
        f'local_key = "{key}"\nlocal_tokens = "{tokens}"\n'
    )
    return settings, {
        "OPENMSMQ_TOKEN_FILE": str(token),
        "OPENMSMQ_CA_FILE": str(authority.file),
    }


def drive(
    master: str,
    serve: Serve,
    folder: Path,
    *,
    endpoint: str | None = None,
    variables: Mapping[str, str] | None = None,
) -> None:
    """Run the driver program and look at the queues afterwards.

    Args:
        endpoint: the way of Spark to the queue manager, if it is not the socket.
        variables: set for the driver, and for nobody else.
    """
    with openmsmq.connect(serve.socket) as qm:
        qm.create_queue(ORDERS, transactional=True)
        qm.create_queue(BILLS, transactional=True)
        command = [sys.executable, "-m", "tests.spark.cluster_driver"]
        done = subprocess.run(
            [*command, master, endpoint or str(serve.socket), str(folder)],
            cwd=ROOT,
            env={**environ(folder), **(variables or {})},
            capture_output=True,
            text=True,
            timeout=DRIVER_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout.splitlines()[-1])
        assert told == {"rows": COUNT, "distinct": COUNT}
        arrived = sorted(int(message.body_bytes) for message in qm.open_queue(BILLS).cursor())
        assert arrived == list(range(COUNT))
        assert qm.queue_info(ORDERS)["messages"] == 0
        assert qm.status()["staged_bytes"] == 0


def test_a_cluster_of_two_workers_reads_writes_and_streams_over_the_network(
    tmp_path: Path,
) -> None:
    settings, variables = on_the_network(tmp_path)
    with serving(tmp_path, "--config", str(settings)) as serve, cluster(tmp_path) as master:
        endpoint = json.loads(serve.ready_file.read_text())["local-tcp"]
        drive(master, serve, tmp_path, endpoint=endpoint, variables=variables)
        executors = [list((tmp_path / f"work{number}").glob("app-*/*")) for number in range(2)]
        assert all(executors), "a worker had nothing to do"


def test_spark_connect_reads_writes_and_streams(tmp_path: Path) -> None:
    with serving(tmp_path) as serve, connect_server(tmp_path) as remote:
        drive(remote, serve, tmp_path)
