"""Options of the connection, shared by readers and writers."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from openmsmq.client.address import CA_FILE_VARIABLE, TOKEN_FILE_VARIABLE, split_host
from openmsmq.client.remote.address import (
    LEVELS,
    PASSWORD_FILE_VARIABLE,
    SCHEME,
    USER_VARIABLE,
    host_and_port,
)
from openmsmq.net.local.paths import SOCKET_VARIABLE
from openmsmq.wire.errors import ConfigError

from . import values

CONNECT_SECONDS: Final = 10.0
CONNECTION: Final[dict[str, values.Reader[Any]]] = {
    "endpoint": values.text,
    "auth.token": values.text,
    "auth.tokenFile": values.text,
    "auth.caFile": values.text,
    "auth.user": values.text,
    "auth.passwordFile": values.text,
    "auth.level": values.choice(*LEVELS),
    "auth.kerberos": values.boolean,
    "connectTimeout": values.duration,
}
# Who reads a server over RPC, and who a client of a queue manager is.
_OF_RPC: Final = ("auth.user", "auth.passwordFile", "auth.level", "auth.kerberos")
_OF_MANAGER: Final = ("auth.token", "auth.tokenFile", "auth.caFile")


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """How to reach the queues.

    Attributes:
        endpoint: a socket path or `host:port` of a queue manager, or `msmq://host[:port]` of any
            MSMQ server; None for the local default.
        token: says who the user is over TCP; never shown.
        token_file: where each machine finds the token instead.
        ca_file: certificates to trust over TCP instead of the system's.
        user: who reads a server over RPC; None for Anonymous Logon.
        password_file: where each machine finds the password of that user.
        level: how calls over RPC are protected; None for the default.
        kerberos: log on by ticket, which each machine needs: that of the user, or one by the
            password.
        timeout: seconds to wait for a queue manager that does not answer.
    """

    endpoint: str | None = None
    token: str | None = field(default=None, repr=False)
    token_file: str | None = None
    ca_file: str | None = None
    user: str | None = None
    password_file: str | None = None
    level: str | None = None
    kerberos: bool = False
    timeout: float = CONNECT_SECONDS

    @property
    def is_remote_read(self) -> bool:
        """Whether queues are read over RPC, which only looks at messages."""
        return self.endpoint is not None and self.endpoint.startswith(SCHEME)

    @classmethod
    def from_values(cls, settings: Mapping[str, Any]) -> Self:
        """The part of the options that is about the connection.

        What is not given is taken from the environment here and now: other machines may not have
        it.
        """
        endpoint = settings.get("endpoint") or os.environ.get(SOCKET_VARIABLE)
        timeout = settings.get("connectTimeout", CONNECT_SECONDS)
        if endpoint and endpoint.startswith(SCHEME):
            return cls._of_server(endpoint, settings, timeout)
        if endpoint and ("://" in endpoint or ("=" in endpoint and "/" not in endpoint)):
            raise ConfigError(
                f"option endpoint: {endpoint!r} must be the path of a socket or host:port of a "
                "queue manager of openmsmq, or msmq://host[:port] of any MSMQ server"
            )
        _refuse(settings, _OF_RPC, f"for endpoint={SCHEME}host only")
        if "auth.token" in settings and "auth.tokenFile" in settings:
            raise ConfigError("option auth.token: not together with auth.tokenFile")
        token, token_file = settings.get("auth.token"), settings.get("auth.tokenFile")
        ca_file = settings.get("auth.caFile")
        if endpoint and split_host(endpoint):
            token_file = token_file or (None if token else os.environ.get(TOKEN_FILE_VARIABLE))
            ca_file = ca_file or os.environ.get(CA_FILE_VARIABLE)
        return cls(endpoint, token, token_file or None, ca_file or None, timeout=timeout)

    @classmethod
    def _of_server(cls, endpoint: str, settings: Mapping[str, Any], timeout: float) -> Self:
        """How to reach a server over RPC."""
        _refuse(settings, _OF_MANAGER, f"not with endpoint={SCHEME}host, which takes auth.user")
        try:
            host_and_port(endpoint)
        except ConfigError as exc:
            raise ConfigError(f"option endpoint: {exc}") from None
        user = settings.get("auth.user") or os.environ.get(USER_VARIABLE) or None
        password_file = settings.get("auth.passwordFile") or os.environ.get(PASSWORD_FILE_VARIABLE)
        level = settings.get("auth.level")
        if settings.get("auth.kerberos"):
            if level == "none":
                raise ConfigError("option auth.level: none is without auth.kerberos")
            return cls(
                endpoint,
                user=user,
                password_file=password_file if user else None,
                level=level,
                kerberos=True,
                timeout=timeout,
            )
        if user is None:
            _refuse(settings, ("auth.passwordFile", "auth.level"), "needs auth.user")
            return cls(endpoint, timeout=timeout)
        if not password_file:
            raise ConfigError(
                f"option auth.passwordFile: needed for the user; else ${PASSWORD_FILE_VARIABLE}"
            )
        if level == "none":
            raise ConfigError("option auth.level: none is for Anonymous Logon, without auth.user")
        return cls(endpoint, user=user, password_file=password_file, level=level, timeout=timeout)


def _refuse(settings: Mapping[str, Any], names: tuple[str, ...], reason: str) -> None:
    for name in names:
        if name in settings:
            raise ConfigError(f"option {name}: {reason}")
