"""This process as if its machine were elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

TOKYO = "Asia/Tokyo"
NEW_YORK = "America/New_York"


@contextmanager
def machine_in(zone: str) -> Iterator[None]:
    """Have Python's local time be that of a zone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        yield
    time.tzset()
