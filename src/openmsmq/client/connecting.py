"""Which backend leads to an address."""

import time

from .address import Address, TcpAddress
from .backend import Backend
from .local.backend import LocalBackend


def backend_of(address: Address, *, reconnects: bool) -> Backend:
    """The backend for the queues at an address."""
    token = address.token if isinstance(address, TcpAddress) else ""
    return LocalBackend(str(address), time.monotonic, token=token, reconnects=reconnects)
