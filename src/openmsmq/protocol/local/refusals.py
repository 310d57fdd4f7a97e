"""Refusals: why a request was not carried out, for its client and for the log."""

from openmsmq.security.principals import describe_principal
from openmsmq.security.right_missing import RightMissing
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import StoreError

from . import messages as local
from .session import LocalSession, storage_failed


def refuse(session: LocalSession, request: local.Request, error: QueueError | StoreError) -> None:
    """Send the refusal to the client, and report it to the service."""
    error = _for_client(session, error)
    queue = ""
    messages = 0
    depends = 0
    if isinstance(request, local.Send):
        messages = len(request.packets) - error.accepted
        # It reports how many messages were accepted, and refusals of a chain are sent in order.
        if error.accepted or request.chain:
            depends = session.seen
        queue = _count(session, request.handle, messages, error)
    elif isinstance(request, local.SendEach):
        messages = len(request.packets)
        depends = session.seen
    elif isinstance(request, local.Stage):
        messages = len(request.packets)
        queue = request.destination
    session.service.refused(type(request).__name__, queue, messages, error)
    session.fail(request.id, error, depends)


def refuse_handle(
    session: LocalSession, handle: int, messages: int, error: QueueError | StoreError
) -> local.Refused:
    """Refuse the last of `messages` for one handle of several, and those that follow for it."""
    error = _for_client(session, error)
    session.break_chain(handle, error)
    refused = messages - error.accepted
    queue = _count(session, handle, refused, error)
    session.service.refused(local.SendEach.__name__, queue, refused, error)
    return local.Refused(
        handle, refused, int(error.code), error.detail, error.known_cause, error.known_remedy
    )


def _for_client(session: LocalSession, error: QueueError | StoreError) -> QueueError:
    if isinstance(error, StoreError):
        return storage_failed(error)
    if isinstance(error, RightMissing):
        return error.named(describe_principal(error.sid, session.service.accounts))
    return error


def _count(session: LocalSession, handle: int, messages: int, error: QueueError) -> str:
    """Count messages that an open queue refused; return its name, empty if the handle has none."""
    descriptor = session.holder.open.get(handle)
    if descriptor is None:
        return ""
    session.manager.traffic.count_refused(descriptor, messages, error)
    return descriptor.format_name
