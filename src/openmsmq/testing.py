"""A pytest plugin: the fixture `msmq` is a queue manager of its own for each test.

Load it with `pytest_plugins = ["openmsmq.testing"]` in the topmost conftest.py.

    def test_orders_are_counted(msmq):
        orders = msmq.create_queue(r".\\private$\\orders")
        orders.send(openmsmq.Message("12 apples"))
        assert orders.receive(timeout=1).body == "12 apples"
"""

from collections.abc import Iterator

import pytest

from openmsmq.client import QueueManager
from openmsmq.client.embedded import embedded


@pytest.fixture
def msmq() -> Iterator[QueueManager]:
    """A connection to a fresh queue manager inside the process; it keeps everything in memory.

    Other processes and connections reach it at `msmq.address`.
    """
    with embedded() as manager:
        yield manager
