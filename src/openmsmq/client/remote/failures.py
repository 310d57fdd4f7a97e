"""Failures of a server of remote read as a program gets them: what happened and what to do."""

from typing import Final

from openmsmq.client.backend import Handle
from openmsmq.client.errors import ConnectionLost, ReceiveTimeout
from openmsmq.protocol.remote_read.client import queue_error
from openmsmq.protocol.rpc.errors import ConnectionClosed, RpcFault
from openmsmq.security.mechanism import AuthenticationFailed
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.errors import MsmqError
from openmsmq.wire.rpc.status import RPC_ACCESS_DENIED, RPC_S_SEC_PKG_ERROR

from .address import RpcAddress


class Failures:
    """Makes errors of calls to one server readable."""

    def __init__(self, address: RpcAddress) -> None:
        self._address: Final = address

    def no_server(self, error: ConnectionClosed) -> ConnectionLost:
        """Nothing answers at the address."""
        ports = self._address.port or "135 (endpoint mapper) and 2103"
        return ConnectionLost(
            f"no server of remote read answers at {self._address}: {error.detail}",
            cause="The queue is on another machine, which is down, behind a firewall, or does not "
            "serve remote reads.",
            remedy=f"Check the host, its Message Queuing service, and its firewall: ports {ports}.",
        )

    def explained(self, error: MsmqError, what: str = "") -> MsmqError:
        """What an error of RPC means, and what to do.

        Args:
            what: the queue that the call was for.
        """
        if isinstance(error.__cause__, RpcFault):
            error = error.__cause__
        if isinstance(error, RpcFault):
            if error.status in (RPC_ACCESS_DENIED, RPC_S_SEC_PKG_ERROR):
                return self._refused(error)
            error = queue_error(error, what or str(self._address))
        if isinstance(error, AuthenticationFailed):
            return self._refused(error)
        if isinstance(error, ConnectionClosed):
            return ConnectionLost(f"{self._address}: {error.detail}")
        return self._of_queue(error, what) if isinstance(error, QueueError) else error

    def _of_queue(self, error: QueueError, what: str) -> MsmqError:
        if error.code == Hresult.MQ_ERROR_IO_TIMEOUT:
            return ReceiveTimeout()
        if error.code == Hresult.MQ_ERROR_ACCESS_DENIED:
            return AccessDenied(
                f"{what or self._address}: {self._address.who} may not read the queue",
                remedy="Ask its administrator for the right to receive or to peek messages, or "
                "name another user.",
            )
        if what and not error.detail:
            return QueueError(error.code, what, cause=error.known_cause, remedy=error.known_remedy)
        return error

    def _refused(self, error: MsmqError) -> AccessDenied:
        """The server does not let this user in."""
        address = self._address
        if address.kerberos:
            cause = (
                "There is no valid ticket, the KDC does not know the server, the server does not "
                "know the user, or it asks for a higher level."
            )
            remedy = (
                f"See `klist`, get a ticket by `kinit`, name the server as the KDC knows it "
                f"(host/{address.host}), and ask its administrator for an account "
                "(`openmsmq user add NAME --principal USER@REALM`). --auth none or auth='none' "
                "reads without authentication."
            )
        elif address.user:
            cause = (
                "User or password are wrong, or the server asks for a higher level than "
                f"{address.level}."
            )
            remedy = "Check both; most servers ask for level privacy."
        else:
            cause = "The server asks for authentication."
            remedy = (
                "Give user and password (--user and --password-file, or $OPENMSMQ_RPC_USER and "
                "$OPENMSMQ_RPC_PASSWORD_FILE); the level is privacy then."
            )
        return AccessDenied(f"{address} refuses {address.who}: {error}", cause=cause, remedy=remedy)


def may_come_again(handle: Handle, lookup_id: int, reason: str) -> QueueError:
    """A message that the caller has may not have been removed."""
    return QueueError(
        Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
        f"{handle.format_name}: the receipt of message {lookup_id} was not confirmed: {reason}",
        cause="The server has put the message back in its queue, or was not reached.",
        remedy="The message may come again: be ready to see it twice.",
    )
