"""Where a queue manager is: the path of its Unix socket, or host and port with TLS."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from openmsmq.net.local.paths import SOCKET_VARIABLE, default_socket
from openmsmq.wire.errors import ConfigError, file_fault

from .errors import ConnectionLost
from .remote.address import SCHEME, Logon, RpcAddress

if TYPE_CHECKING:
    from ssl import SSLContext


# Files with what says over TCP who the user is, and whom to trust.
TOKEN_FILE_VARIABLE: Final = "OPENMSMQ_TOKEN_FILE"  # noqa: S105 - the name of a variable
CA_FILE_VARIABLE: Final = "OPENMSMQ_CA_FILE"
# X509_V_ERR_CERT_NOT_YET_VALID, CERT_HAS_EXPIRED; HOSTNAME_MISMATCH, IP_ADDRESS_MISMATCH.
_EXPIRED: Final = frozenset((9, 10))
_OTHER_NAME: Final = frozenset((62, 64))


@dataclass(frozen=True, slots=True)
class UnixAddress:
    """A queue manager on this machine; the kernel tells it who connects."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)


@dataclass(frozen=True, slots=True)
class TcpAddress:
    """A queue manager anywhere; TLS and a token say who is who."""

    host: str
    port: int
    token: str
    context: "SSLContext"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


Address = UnixAddress | TcpAddress | RpcAddress


def find_address(
    address: str | Path | None,
    *,
    token: str | None,
    ca_file: str | Path | None,
    logon: Logon | None = None,
) -> Address:
    """The address that a user means.

    Args:
        address: path of a socket, `host:port` or `msmq://host[:port]`; without one,
            $OPENMSMQ_SOCKET, else the socket in the default data directory.
        token: stands for the user over TCP; without one, what is in the file $OPENMSMQ_TOKEN_FILE.
        ca_file: certificates to trust over TCP instead of the system's; without it,
            $OPENMSMQ_CA_FILE.
        logon: for `msmq://host`, and for queues of other machines.

    Raises:
        ConfigError: it cannot be used; the text names the argument.
    """
    logon = Logon() if logon is None else logon
    if isinstance(address, str) and address.startswith(SCHEME):
        if token is not None or ca_file is not None:
            raise ConfigError(f"address: {address} takes user and password, no token and ca_file")
        return logon.address(address)
    logon.check()
    if address is None:
        address = str(default_socket())
    host_and_port = None if isinstance(address, Path) else split_host(address)
    if host_and_port is None:
        if token is not None or ca_file is not None:
            raise ConfigError(
                f"address: {address} is a socket; token and ca_file are for host:port"
            )
        return UnixAddress(Path(address))
    token = token or environment_token()
    if not token:
        raise ConfigError(
            f"token: {address} needs one; over the network it says who you are",
            remedy=f"Set {TOKEN_FILE_VARIABLE} to a file with your token.",
        )
    return TcpAddress(
        *host_and_port, token, trusting(ca_file or os.environ.get(CA_FILE_VARIABLE) or None)
    )


def environment_token() -> str | None:
    """The token that the environment names a file of.

    Raises:
        ConfigError: the file cannot be read.
    """
    file = os.environ.get(TOKEN_FILE_VARIABLE)
    return read_token(Path(file), f"${TOKEN_FILE_VARIABLE}") if file else None


def read_token(file: Path, name: str) -> str:
    """The token in a file.

    Args:
        file: has nothing but the token.
        name: what named the file, for errors.

    Raises:
        ConfigError: the file cannot be read.
    """
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"{name}: {file}: {file_fault(exc)}") from None


def trusting(ca_file: str | Path | None) -> "SSLContext":
    """What says whom to trust over TCP.

    Raises:
        ConfigError: the file has no certificates.
    """
    # Only now: it takes longer to load than everything else here.
    import ssl

    try:
        return ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    except OSError as exc:
        raise ConfigError(f"ca_file: {ca_file}: {file_fault(exc)}") from exc


def split_host(address: str) -> tuple[str, int] | None:
    """Host and port of `host:port` or `[address]:port`; None for anything else."""
    host, separator, port = address.rpartition(":")
    if not separator or "/" in address or not (port.isascii() and port.isdecimal()):
        return None
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    return (host, int(port)) if host else None


def nobody_answers(address: Address, reason: OSError | str) -> ConnectionLost:
    """Say that there is no queue manager, and what to do."""
    if isinstance(address, UnixAddress):
        remedy = (
            "Start one with `openmsmq serve`, or name its socket "
            f"(--socket, {SOCKET_VARIABLE}, connect(path))."
        )
    elif isinstance(address, RpcAddress):
        remedy = "Check the host and its firewall."
    else:
        import ssl

        if isinstance(reason, ssl.SSLCertVerificationError):
            return not_trusted(address, reason.verify_code, reason.verify_message)
        remedy = "It listens there only when started with --local-port; check host and port."
    why = reason if isinstance(reason, str) else reason.strerror or reason
    return ConnectionLost(f"no queue manager answers at {address}: {why}", remedy=remedy)


def not_trusted(address: TcpAddress, code: int, reason: str) -> ConnectionLost:
    """The error for a server that does not prove to be the queue manager, with a remedy.

    Args:
        code: X509_V_ERR_* of OpenSSL.
        reason: the same in words.
    """
    if code in _EXPIRED:
        cause = "The certificate of the queue manager is not valid at this time."
        remedy = "Compare the clocks; the administrator of the queue manager renews it."
    elif code in _OTHER_NAME:
        cause = f"The certificate of the queue manager is for another name than {address.host}."
        remedy = "Connect by a name that the certificate has."
    else:
        cause = "No authority that this machine trusts has signed it."
        remedy = (
            f"Set {CA_FILE_VARIABLE} (in Python ca_file) to a file with the certificate, or with "
            "that of the authority that signed it."
        )
    return ConnectionLost(
        f"the certificate of {address} is not trusted: {reason}", cause=cause, remedy=remedy
    )


def hung_up(address: str, reason: object | None) -> str:
    """The error for a lost connection to a queue manager, with a remedy."""
    why = f" ({reason})" if reason is not None else ""
    return (
        f"the queue manager at {address} closed the connection{why}. "
        "See whether it runs (`openmsmq status`), then connect again; with reconnect=True waiting "
        "calls do so by themselves."
    )


def interrupted(description: str) -> str:
    """The error for a connection that was given up because nobody knows its state."""
    return (
        f"the connection to {description} was given up: something ended a call amidst its work, "
        "such as Ctrl-C. What was received and not acknowledged is back in its queue. Connect "
        "again; with reconnect=True the next call does so by itself."
    )
