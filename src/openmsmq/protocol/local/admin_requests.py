"""Requests about the queue manager itself and its outgoing queues."""

from datetime import UTC, datetime
from typing import Any, Final

from openmsmq.core.model.queue import Queue
from openmsmq.core.queues.access import check_machine_right
from openmsmq.wire.codes.access_rights import MachineRight
from openmsmq.wire.codes.hresult import Hresult, hresult_name
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.errors import StoreError

from . import messages as local
from .queue_requests import oldest_age
from .session import Handlers, LocalSession, storage_failed


def get_status(session: LocalSession, request: local.GetStatus) -> None:
    session.done(request.id, session.service.status(), session.seen)


def list_outgoing(session: LocalSession, request: local.ListOutgoing) -> None:
    state = session.manager.state
    check_machine_right(state, session.identity(), MachineRight.PEEK_DEADLETTER_MESSAGE)
    shown = [describe_outgoing(session, queue) for queue in session.manager.outgoing.queues]
    session.done(request.id, shown, session.seen)


def describe_outgoing(session: LocalSession, queue: Queue) -> dict[str, Any]:
    """An outgoing queue under the names that users know."""
    outgoing = queue.outgoing
    assert outgoing is not None  # noqa: S101 - only outgoing queues are asked for
    history = list(outgoing.connection_history)
    return {
        "destination": outgoing.destination_format_name,
        "transport": str(outgoing.transport),
        "state": str(outgoing.state),
        "next_hop": ", ".join(outgoing.next_hops or ()),
        "messages": queue.count,
        "bytes": queue.total_bytes,
        "oldest_message_age_seconds": oldest_age(queue, session.manager.state.utc),
        "unacknowledged": 0,
        "last_error": "",
        "retry_in_seconds": None,
        "reason": "",
        **session.service.transfer_status(outgoing.destination_format_name),
        "history": [
            {
                "status": entry.status.name,
                "time": datetime.fromtimestamp(entry.connection_history_time, UTC).isoformat(),
                "error": hresult_name(entry.error) if entry.error else None,
                "addresses": list(entry.address_list),
            }
            for entry in history
        ],
    }


def hold_outgoing(session: LocalSession, request: local.HoldOutgoing) -> None:
    outgoing = session.manager.outgoing
    queue = outgoing.find(request.destination)
    if request.pause:
        outgoing.pause(queue, caller=session.identity())
    else:
        outgoing.resume(queue, caller=session.identity())
    session.done(request.id, describe_outgoing(session, queue), session.seen)


def backup(session: LocalSession, request: local.Backup) -> None:
    caller = session.identity()
    if not caller.is_local_admin:
        raise AccessDenied(
            "only an administrator of the queue manager may back it up",
            cause="You are neither root nor the user that the queue manager runs as.",
            remedy="Run the command as root or as the user that the queue manager runs as.",
        )

    def finish(result: dict[str, Any] | StoreError) -> None:
        if isinstance(result, StoreError):
            session.fail(request.id, storage_failed(result))
        else:
            session.done(request.id, result)

    if not request.file.startswith("/"):
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"file: {request.file!r} must start with /, as the queue manager is elsewhere",
        )
    session.service.backup(request.file, finish)


HANDLERS: Final[Handlers] = {
    local.GetStatus: get_status,
    local.ListOutgoing: list_outgoing,
    local.HoldOutgoing: hold_outgoing,
    local.Backup: backup,
}
