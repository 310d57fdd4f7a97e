"""A queue manager in memory for each test."""

from collections.abc import Iterator

import pytest

import openmsmq


@pytest.fixture
def qm() -> Iterator[openmsmq.QueueManager]:
    with openmsmq.embedded() as manager:
        yield manager
