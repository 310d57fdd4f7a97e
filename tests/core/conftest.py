"""A queue manager with one queue, for the tests of the core."""

import pytest
from tests.core.harness import Harness


@pytest.fixture
def harness() -> Harness:
    """A queue manager with the plain queue `orders`."""
    harness = Harness()
    harness.create()
    return harness
