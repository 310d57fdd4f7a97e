"""A world with one client."""

import pytest
from tests.protocol.qm2qm.harness import Reader, World


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def reader(world: World) -> Reader:
    return world.client()
