"""Where a server of remote read is, and who reads: `msmq://host[:port]`."""

import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from openmsmq.wire.errors import ConfigError, file_fault
from openmsmq.wire.rpc.status import AuthnLevel

if TYPE_CHECKING:
    from openmsmq.protocol.rpc.client import ClientSecurity

SCHEME: Final = "msmq://"
USER_VARIABLE: Final = "OPENMSMQ_RPC_USER"
PASSWORD_FILE_VARIABLE: Final = "OPENMSMQ_RPC_PASSWORD_FILE"  # noqa: S105 - the name of a variable
LEVELS: Final = {
    "none": AuthnLevel.NONE,
    "connect": AuthnLevel.CONNECT,
    "packet": AuthnLevel.PKT,
    "integrity": AuthnLevel.PKT_INTEGRITY,
    "privacy": AuthnLevel.PKT_PRIVACY,
}


@dataclass(frozen=True, slots=True)
class RpcAddress:
    """A server of remote read.

    Attributes:
        port: of RemoteRead; 0 asks the endpoint mapper.
        user: who reads; empty for Anonymous Logon, or for the ticket that the user has.
        level: how calls are protected, as in `LEVELS`.
        rebinds: connect again to the port that R_GetServerPort tells.
        kerberos: log on by ticket instead of NTLM.
    """

    host: str
    port: int = 0
    user: str = ""
    password: str = field(default="", repr=False)
    level: str = "none"
    rebinds: bool = False
    kerberos: bool = False

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{SCHEME}{host}:{self.port}" if self.port else f"{SCHEME}{host}"

    @property
    def who(self) -> str:
        """How this client logs on, for error texts."""
        if self.kerberos:
            return f"the ticket of {self.user or 'the user'} at level {self.level}"
        return f"{self.user} at level {self.level}" if self.user else "Anonymous Logon"

    def security(
        self,
        random: Callable[[int], bytes] = secrets.token_bytes,
        utc: Callable[[], float] = time.time,
    ) -> "ClientSecurity | None":
        """How connections are authenticated; None for Anonymous Logon."""
        if not self.user and not self.kerberos:
            return None
        # Only now: most programs need no RPC.
        from openmsmq.protocol.rpc.client import ClientSecurity
        from openmsmq.security.kerberos import KerberosInitiator, TicketSource
        from openmsmq.security.mechanism import RPC_C_AUTHN_GSS_KERBEROS, RPC_C_AUTHN_WINNT
        from openmsmq.security.ntlm import NtlmCredentials
        from openmsmq.security.packages import initiators

        level = LEVELS[self.level]
        if self.kerberos:
            source = TicketSource(self.user, self.password)
            tickets = KerberosInitiator(source, self.host)
            return ClientSecurity(RPC_C_AUTHN_GSS_KERBEROS, level, tickets, tickets.fetch_ticket)
        packages = initiators(
            NtlmCredentials.of_password(self.user, self.password),
            random=random,
            utc=utc,
            seal=level is AuthnLevel.PKT_PRIVACY,
            target_name=f"RPC/{self.host}",
        )
        return ClientSecurity(RPC_C_AUTHN_WINNT, level, packages[RPC_C_AUTHN_WINNT])


@dataclass(frozen=True, slots=True)
class Logon:
    """How a program logs on to servers of remote read; see `parse_rpc_address`."""

    user: str | None = None
    password: str | None = field(default=None, repr=False)
    auth: str | None = None
    level: str | None = None
    rebind: bool = False

    def address(self, text: str) -> RpcAddress:
        """The address for `msmq://host[:port]`.

        Raises:
            ConfigError: it cannot be used; the text names the argument.
        """
        return parse_rpc_address(
            text,
            user=self.user,
            password=self.password,
            auth=self.auth,
            level=self.level,
            rebind=self.rebind,
        )

    def check(self) -> None:
        """Refuse what can be used with no server.

        Raises:
            ConfigError: names the argument.
        """
        if self != Logon():
            self.address(f"{SCHEME}localhost")


def parse_rpc_address(
    text: str,
    *,
    user: str | None = None,
    password: str | None = None,
    auth: str | None = None,
    level: str | None = None,
    rebind: bool = False,
) -> RpcAddress:
    """The address that a user means by `msmq://host[:port]`.

    Args:
        user: without one, $OPENMSMQ_RPC_USER.
        password: without one, what is in the file $OPENMSMQ_RPC_PASSWORD_FILE.
        auth: `ntlm`, `kerberos` or `none`; `ntlm` when there is a user, else `kerberos` when there
            is a ticket and the extra `kerberos`.
        level: `none`, `connect`, `packet`, `integrity` or `privacy`, which is the default with a
            user or a ticket.
        rebind: connect again to the port that R_GetServerPort tells.

    Raises:
        ConfigError: it cannot be used; the text names the argument.
    """
    host, port = host_and_port(text)
    if auth not in (None, "kerberos", "ntlm", "none"):
        raise ConfigError(f"auth: {auth!r} must be one of 'kerberos', 'ntlm', 'none'")
    if level is not None and level not in LEVELS:
        raise ConfigError(f"level: {level!r} must be one of {', '.join(LEVELS)}")
    if auth == "none":
        if user or password or level not in (None, "none"):
            raise ConfigError("auth: 'none' goes with neither user, password nor level")
        return RpcAddress(host, port, rebinds=rebind)
    user = user or os.environ.get(USER_VARIABLE) or ""
    if auth == "kerberos" or (not user and auth is None and not password and _has_ticket()):
        return _by_ticket(RpcAddress(host, port, user, password or "", rebinds=rebind), level)
    if not user:
        if auth == "ntlm" or password or level not in (None, "none"):
            raise ConfigError(
                f"user: {text} needs one for auth, password and level",
                remedy=f"Name the user, or set {USER_VARIABLE}.",
            )
        return RpcAddress(host, port, rebinds=rebind)
    if level == "none":
        raise ConfigError("level: 'none' goes with auth='none' only")
    if password is None:
        password = _environment_password()
    return RpcAddress(host, port, user, password, level or "privacy", rebind)


def _has_ticket() -> bool:
    from openmsmq.security.kerberos import has_ticket

    return has_ticket()


def _by_ticket(address: RpcAddress, level: str | None) -> RpcAddress:
    """The address with a logon by Kerberos.

    Raises:
        ConfigError: the extra is missing, or the arguments do not fit together.
    """
    from openmsmq.security.kerberos import require_gssapi

    require_gssapi()
    if level == "none":
        raise ConfigError("level: 'none' goes with auth='none' only")
    password = address.password
    if password and not address.user:
        raise ConfigError("password: with Kerberos it needs a user, as USER@REALM")
    if address.user and not password and os.environ.get(PASSWORD_FILE_VARIABLE):
        password = _environment_password()
    return replace(address, password=password, level=level or "privacy", kerberos=True)


def _environment_password() -> str:
    file = os.environ.get(PASSWORD_FILE_VARIABLE)
    if not file:
        raise ConfigError(
            "password: there is none for the user",
            remedy=f"Give one, or set {PASSWORD_FILE_VARIABLE} to a file that has it.",
        )
    return read_password(file, f"${PASSWORD_FILE_VARIABLE}")


def read_password(file: str, name: str) -> str:
    """The password in a file, without the end of its line.

    Raises:
        ConfigError: the file cannot be read.
    """
    try:
        with open(file, encoding="utf-8") as source:  # noqa: PTH123 - a name that users give
            return source.read().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{name}: {file}: {file_fault(exc)}") from None


def server_address(host: str) -> str:
    """The address of a server that the endpoint mapper finds."""
    return f"{SCHEME}[{host}]" if ":" in host else f"{SCHEME}{host}"


def host_and_port(text: str) -> tuple[str, int]:
    """Host and port of `msmq://host[:port]`; 0 without a port.

    Raises:
        ConfigError: it is not such an address.
    """
    rest = text[len(SCHEME) :].rstrip("/")
    host, separator, port = rest.rpartition(":")
    if not separator or rest.endswith("]"):
        host, port = rest, "0"
    if not host.strip("[]") or "/" in host or not (port.isascii() and port.isdecimal()):
        raise ConfigError(f"address: {text} is not {SCHEME}host[:port]")
    if int(port) > 0xFFFF or (separator and not rest.endswith("]") and int(port) == 0):
        raise ConfigError(f"address: {text}: the port must be 1 to 65535")
    return host.strip("[]"), int(port)
