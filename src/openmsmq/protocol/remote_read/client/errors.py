"""Answers of a server of remote read as exceptions."""

from typing import Final, Protocol

from openmsmq.protocol.rpc.errors import RpcFault
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.rpc.status import NCA_S_FAULT_CONTEXT_MISMATCH, NCA_S_OP_RNG_ERROR

# [MS-MQQP] 3.1.4.6: a read that was cancelled; its severity bit is clear.
MQ_INFORMATION_OPERATION_CANCELLED: Final = 0x400E03E9
_SEVERITY: Final = 0x8000_0000


class Result(Protocol):
    """A response with an HRESULT."""

    @property
    def result(self) -> int: ...


def check(response: Result, detail: str = "") -> None:
    """Raise the refusal in a response.

    Raises:
        QueueError: with the code of the server; a read that was cancelled has
            MQ_ERROR_OPERATION_CANCELLED by both protocols.
    """
    code = response.result
    if code == MQ_INFORMATION_OPERATION_CANCELLED:
        code = Hresult.MQ_ERROR_OPERATION_CANCELLED
    if code & _SEVERITY:
        raise QueueError(code, detail)


def queue_error(fault: RpcFault, detail: str = "") -> QueueError:
    """The error of the queue for a fault, which is its cause."""
    error = _meaning(fault, detail)
    # In compiled modules `raise ... from` sets none.
    error.__cause__ = fault
    return error


def _meaning(fault: RpcFault, detail: str) -> QueueError:
    """Opnums 2 and 11 return their HRESULT as the status of a fault."""
    status = fault.status
    if status == NCA_S_OP_RNG_ERROR:
        # [MS-MQRR] 1.7: opnums 10 to 15 are missing in Windows Server 2003.
        return not_supported(detail)
    if status == NCA_S_FAULT_CONTEXT_MISMATCH:
        return QueueError(
            Hresult.MQ_ERROR_STALE_HANDLE,
            f"{detail}: the server no longer knows the open queue".removeprefix(": "),
            remedy="Open the queue again; the server was restarted, or its queue was deleted.",
        )
    if status & _SEVERITY:
        return QueueError(status, detail)
    return QueueError(
        Hresult.MQ_ERROR_REMOTE_MACHINE_NOT_AVAILABLE, f"{detail}: {fault}".removeprefix(": ")
    )


def not_supported(what: str) -> QueueError:
    """The server is too old for an operation."""
    return QueueError(Hresult.MQ_ERROR_OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER, what)
