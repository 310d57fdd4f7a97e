"""Refusals: why a request was not carried out, for its client and for the log."""

from openmsmq.security.principals import describe_principal
from openmsmq.security.right_missing import RightMissing
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import StoreError

from . import messages as local
from .session import LocalSession, storage_failed


def refuse(session: LocalSession, request: local.Request, error: QueueError | StoreError) -> None:
    """Tell the client why not, and the service that it was so."""
    if isinstance(error, StoreError):
        error = storage_failed(error)
    elif isinstance(error, RightMissing):
        error = error.named(describe_principal(error.sid, session.service.accounts))
    queue = ""
    messages = 0
    depends = 0
    if isinstance(request, local.Send):
        messages = len(request.packets) - error.accepted
        # It reports how many messages were accepted, and refusals of a chain come in order.
        if error.accepted or request.chain:
            depends = session.seen
        descriptor = session.holder.open.get(request.handle)
        queue = descriptor.format_name if descriptor is not None else ""
    elif isinstance(request, local.Stage):
        messages = len(request.packets)
        queue = request.destination
    session.service.refused(type(request).__name__, queue, messages, error)
    session.fail(request.id, error, depends)
