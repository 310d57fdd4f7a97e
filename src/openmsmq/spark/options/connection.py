"""How the data source reaches the queue manager: the part of the options that all roles share."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from openmsmq.client.address import CA_FILE_VARIABLE, TOKEN_FILE_VARIABLE, split_host
from openmsmq.net.local.paths import SOCKET_VARIABLE
from openmsmq.wire.errors import ConfigError

from . import values

CONNECT_SECONDS: Final = 10.0
CONNECTION: Final[dict[str, values.Reader[Any]]] = {
    "endpoint": values.text,
    "auth.token": values.text,
    "auth.tokenFile": values.text,
    "auth.caFile": values.text,
    "connectTimeout": values.duration,
}


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """How to reach the queue manager.

    Attributes:
        endpoint: a socket path or `host:port`; None for the local default.
        token: says who the user is over TCP; never shown.
        token_file: where each machine finds the token instead.
        ca_file: certificates to trust over TCP instead of the system's.
        timeout: seconds to wait for a queue manager that does not answer.
    """

    endpoint: str | None = None
    token: str | None = field(default=None, repr=False)
    token_file: str | None = None
    ca_file: str | None = None
    timeout: float = CONNECT_SECONDS

    @classmethod
    def from_values(cls, found: Mapping[str, Any]) -> Self:
        """The part of the options that is about the connection.

        What is not given is taken from the environment here and now: other machines may not have
        it.
        """
        endpoint = found.get("endpoint") or os.environ.get(SOCKET_VARIABLE)
        if endpoint and ("://" in endpoint or ("=" in endpoint and "/" not in endpoint)):
            raise ConfigError(
                f"option endpoint: {endpoint!r} is not a queue manager of openmsmq; it is the path "
                "of a socket or host:port. Reading other MSMQ servers remotely is not there yet"
            )
        if "auth.token" in found and "auth.tokenFile" in found:
            raise ConfigError("option auth.token: not together with auth.tokenFile")
        token, token_file = found.get("auth.token"), found.get("auth.tokenFile")
        ca_file = found.get("auth.caFile")
        if endpoint and split_host(endpoint):
            token_file = token_file or (None if token else os.environ.get(TOKEN_FILE_VARIABLE))
            ca_file = ca_file or os.environ.get(CA_FILE_VARIABLE)
        timeout = found.get("connectTimeout", CONNECT_SECONDS)
        return cls(endpoint, token, token_file or None, ca_file or None, timeout)
