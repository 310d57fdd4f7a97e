"""A queue with messages in it, and lines of the log."""

from typing import Any

import pytest
from tests.server.raw_client import RawClient, packet

ORDERS = r".\private$\orders"


def fill(client: RawClient, *contents: bytes, **rest: Any) -> None:
    client.send(client.open(ORDERS, "send"), *[packet(body, **rest) for body in contents])


def logged(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    """The fields of each line with this event."""
    records = [each for each in caplog.records if getattr(each, "event", "") == event]
    return [getattr(each, "fields") for each in records]  # noqa: B009 - no such type
