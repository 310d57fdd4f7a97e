"""A pytest plugin: the fixture `msmq` is a queue manager of its own for each test.

pytest finds it by itself wherever openmsmq is installed.

    def test_orders_are_counted(msmq):
        orders = msmq.create_queue(r".\\private$\\orders")
        orders.send(openmsmq.Message("12 apples"))
        assert orders.receive(timeout=1).body == "12 apples"
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from openmsmq.client import QueueManager


@pytest.fixture
def msmq() -> "Iterator[QueueManager]":
    """A connection to a fresh queue manager inside the process; it keeps everything in memory.

    Other processes and connections reach it at `msmq.address`.
    """
    # Imported late: pytest loads the plugin even where it is not used.
    from openmsmq.server.embedded import embedded

    with embedded() as manager:
        yield manager
