"""Which backend leads to an address."""

import time

from openmsmq.wire.errors import ConfigError

from .address import Address, TcpAddress
from .backend import Backend
from .local.backend import LocalBackend
from .remote.address import RpcAddress


def backend_of(
    address: Address, *, timeout: float | None, reconnects: bool, act_for: str = ""
) -> Backend:
    """The backend for the queues at an address.

    Args:
        timeout: seconds in which the queue manager must answer the greeting.

    Raises:
        ConfigError: it cannot act for somebody else there.
    """
    if isinstance(address, RpcAddress):
        if act_for:
            raise ConfigError("act_for: a server of remote read takes user and password")
        # Only now: most programs need no RPC.
        from .remote.backend import RemoteBackend

        return RemoteBackend(address, reconnects=reconnects)
    token = address.token if isinstance(address, TcpAddress) else ""
    return LocalBackend(
        str(address),
        time.monotonic,
        token=token,
        act_for=act_for,
        timeout=timeout,
        reconnects=reconnects,
    )
