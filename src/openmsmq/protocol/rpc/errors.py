"""Errors that end a call or a connection of RPC."""

from openmsmq.wire.errors import MsmqError
from openmsmq.wire.rpc.status import STATUS_NAMES


class RpcFault(MsmqError):
    """A call that ended in a fault.

    A handler raises it to answer with a fault; a client gets it in place of a response.

    Args:
        status: the status of the fault PDU.
        detail: what happened, for users; it is not sent.
        did_not_execute: whether the server certainly did not start the call.
    """

    def __init__(self, status: int, detail: str = "", *, did_not_execute: bool = False) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        self.did_not_execute = did_not_execute

    def __str__(self) -> str:
        name = STATUS_NAMES.get(self.status, "fault")
        text = f"{name} (0x{self.status:08x})"
        return f"{text}: {self.detail}" if self.detail else text


class ConnectionClosed(MsmqError):
    """A call whose connection closed, or could not be opened, before its answer came.

    Args:
        detail: why the connection closed, for users.
        was_sent: whether the request may have reached the server.
    """

    def __init__(self, detail: str, *, was_sent: bool = False) -> None:
        super().__init__(detail)
        self.detail = detail
        self.was_sent = was_sent


class InterfaceUnknown(ConnectionClosed):
    """The server does not offer the interface, or not in a transfer syntax of this side."""
