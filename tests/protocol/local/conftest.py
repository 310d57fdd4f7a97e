"""What the tests of requests share."""

import pytest
from tests.protocol.local.harness import Client, World


@pytest.fixture
def client() -> Client:
    """A client with a queue of its own."""
    client = World().client()
    client.create()
    return client
