"""Which backend leads to an address."""

import time

from .address import Address, TcpAddress
from .backend import Backend
from .local.backend import LocalBackend
from .remote.address import RpcAddress


def backend_of(address: Address, *, reconnects: bool) -> Backend:
    """The backend for the queues at an address."""
    if isinstance(address, RpcAddress):
        # Only now: most programs need no RPC.
        from .remote.backend import RemoteBackend

        return RemoteBackend(address, reconnects=reconnects)
    token = address.token if isinstance(address, TcpAddress) else ""
    return LocalBackend(str(address), time.monotonic, token=token, reconnects=reconnects)
