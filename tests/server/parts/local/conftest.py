"""A queue manager and one client of it for each test."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.parts.local.filling import ORDERS
from tests.server.raw_client import RawClient
from tests.server.threaded import Threaded, threaded


@pytest.fixture
def running() -> Iterator[Threaded]:
    # Another user must be able to reach the socket, so not below the folder of the test run.
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        with threaded(Path(name)) as running:
            yield running


@pytest.fixture
def client(running: Threaded) -> Iterator[RawClient]:
    with running.connect() as client:
        client.create(ORDERS)
        yield client
