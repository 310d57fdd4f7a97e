"""Requests about messages: open, send, receive, peek, look up, move, purge, transactions."""

from typing import Final

from openmsmq.core.model.open_queue import MAY_RECEIVE, OpenQueueDescriptor, QueueAccessType
from openmsmq.core.model.read import MessageSeekAction, Read
from openmsmq.core.model.read_request import ReadRequest
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_enums import ShareMode
from openmsmq.wire.codes.queue_error import QueueError

from . import messages as local
from .deferred import cancel_deferred, defer
from .refusals import refuse_handle
from .session import Handlers, LocalSession, ReadTag, Steps

SHARE: Final = {"deny_none": ShareMode.DENY_NONE, "deny_receive": ShareMode.DENY_RECEIVE_SHARE}
MAX_BYTES: Final = 16 * 1024 * 1024
# In place of the number of a transaction: a transaction for this request alone.
SINGLE: Final = -1


def open_queue(session: LocalSession, request: local.OpenQueue) -> None:
    if request.share not in SHARE:
        raise QueueError(
            Hresult.MQ_ERROR_UNSUPPORTED_ACCESS_MODE,
            f"share {request.share!r} must be one of {', '.join(SHARE)}",
        )
    try:
        access = QueueAccessType(request.access)
    except ValueError:
        raise QueueError(
            Hresult.MQ_ERROR_UNSUPPORTED_ACCESS_MODE,
            f"access {request.access!r} must be one of {', '.join(QueueAccessType)}",
        ) from None
    handle = session.holder.open_queue(
        request.name, access, caller=session.identity(), share=SHARE[request.share]
    )
    descriptor = session.holder.descriptor(handle)
    queue = descriptor.queue
    transactional = None
    if queue is not None and queue.outgoing is None:
        transactional = queue.properties.transactional
    session.done(
        request.id,
        {
            "handle": handle,
            "format_name": descriptor.format_name,
            "destinations": [child.format_name for child in descriptor.children]
            or [descriptor.format_name],
            "transactional": transactional,
        },
        # It may have been created for this client just now.
        session.seen,
    )


def close_queue(session: LocalSession, request: local.CloseQueue) -> None:
    session.close_queue(request.handle)
    session.done(request.id)


def open_cursor(session: LocalSession, request: local.OpenCursor) -> None:
    session.done(request.id, session.holder.open_cursor(request.handle))


def close_cursor(session: LocalSession, request: local.CloseCursor) -> None:
    session.holder.close_cursor(request.cursor)
    session.done(request.id)


def open_to_send(session: LocalSession, request: local.OpenToSend) -> None:
    """The refusal of messages sent to a handle says why its queue could not be opened."""
    handles, names = request.handles, request.names
    if len(handles) != len(names):
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER, f"{len(names)} names for {len(handles)} handles"
        )
    for handle, name in zip(handles, names, strict=True):
        session.open_to_send(handle, name)
    session.done(request.id)


def send(session: LocalSession, request: local.Send) -> None:
    """The answer is the ordinal of the first message; the others follow it."""
    session.incoming_messages += len(request.packets)
    if not request.packets:
        session.opened(request.handle)
        session.done(request.id)
    elif request.transaction == SINGLE:
        send_alone(session, request)
    else:
        send_with_others(session, request)


def send_alone(session: LocalSession, request: local.Send) -> None:
    """The messages of the request are one transaction."""
    manager = session.manager
    descriptor = session.opened(request.handle)
    transaction = manager.traffic.begin(manager.traffic.new_guid())
    try:
        sent = manager.traffic.enqueue_many(
            descriptor, request.packets, transaction, deliver_at=request.deliver_at
        )
    except QueueError:
        manager.traffic.abort(transaction.identifier)
        raise
    committed = manager.traffic.commit(transaction.identifier)
    session.done(request.id, sent.first_ordinal, committed.depends)


def send_with_others(session: LocalSession, request: local.Send) -> None:
    """Without a transaction, or in one that began earlier and ends later."""
    manager = session.manager
    transaction = session.holder.transaction(request.transaction)
    try:
        if request.chain:
            session.check_chain(request.chain)
        sent = manager.traffic.enqueue_many(
            session.opened(request.handle),
            request.packets,
            transaction,
            deliver_at=request.deliver_at,
        )
        if sent.refusal is not None:
            raise sent.refusal
    except QueueError as exc:
        if request.chain:
            session.break_chain(request.chain, exc)
        # The commit may be on its way already; without this message it must not take effect.
        if transaction is not None:
            session.holder.end(request.transaction, commit=False)
        raise
    session.done(request.id, sent.first_ordinal, sent.depends)


def send_each(session: LocalSession, request: local.SendEach) -> None:
    """The answer has the refused messages; the rest of the request is accepted."""
    if len(request.handles) != len(request.packets):
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"{len(request.packets)} packets for {len(request.handles)} handles",
        )
    session.incoming_messages += len(request.packets)
    handles: list[int] = []
    descriptors: list[OpenQueueDescriptor] = []
    packets: list[bytes] = []
    # Handles that take no messages: why, and how many messages there are for them.
    closed: dict[int, QueueError] = {}
    counts: dict[int, int] = {}
    for handle, packet in zip(request.handles, request.packets, strict=True):
        try:
            session.check_chain(handle)
            descriptors.append(session.holder.descriptor(handle))
        except QueueError as exc:
            closed.setdefault(handle, exc)
            counts[handle] = counts.get(handle, 0) + 1
        else:
            handles.append(handle)
            packets.append(packet)
    try:
        sent = session.manager.traffic.enqueue_each(descriptors, packets, caller=session.identity())
    except QueueError as exc:
        for handle in set(handles):
            session.break_chain(handle, exc)
        raise
    refused = [
        refuse_handle(session, handle, counts[handle], error) for handle, error in closed.items()
    ]
    for refusal in sent.refusals:
        handle = handles[refusal.position]
        refused.append(refuse_handle(session, handle, refusal.messages, refusal.error))
    # Refusals of a chain are sent in its order.
    session.done(request.id, refused or None, session.seen if refused else sent.depends)


def limited(count: int) -> int:
    """The maximum number of messages of one request."""
    return min(max(count, 1), local.MAX_MESSAGES)


def receive(session: LocalSession, request: local.Receive) -> None:
    manager, holder = session.manager, session.holder
    descriptor = holder.descriptor(request.handle)
    timeout = request.timeout
    if timeout is not None and not timeout >= 0:
        raise QueueError(Hresult.MQ_ERROR_INVALID_PARAMETER, f"timeout: {timeout} seconds")
    if timeout != 0:
        holder.require_wait(request.id)
    count = limited(request.count)
    size = min(max(request.max_bytes, 1), MAX_BYTES)
    cursor = holder.cursor(request.cursor)
    tag = ReadTag(session, request.id)
    result: Read | ReadRequest
    if request.action == "receive":
        result = manager.traffic.dequeue_many(
            descriptor,
            max_count=count,
            max_bytes=size,
            timeout=timeout,
            cursor=cursor,
            transaction=holder.transaction(request.transaction),
            two_phase=request.two_phase,
            tag=tag,
        )
    elif request.action in ("peek", "peek_next"):
        result = manager.traffic.peek_many(
            descriptor,
            max_count=count,
            max_bytes=size,
            timeout=timeout,
            cursor=cursor,
            next_message=request.action == "peek_next",
            tag=tag,
        )
    else:
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"action {request.action!r} must be one of receive, peek, peek_next",
        )
    if isinstance(result, ReadRequest):
        holder.waiting[request.id] = result
    else:
        session.show(request.id, result.messages, result.packets, result.depends)


def look_up(session: LocalSession, request: local.Lookup) -> None:
    try:
        relation = MessageSeekAction(request.relation)
    except ValueError:
        raise QueueError(
            Hresult.MQ_ERROR_ILLEGAL_RELATION,
            f"relation {request.relation!r} must be one of {', '.join(MessageSeekAction)}",
        ) from None
    read = session.manager.traffic.read_by_lookup_id(
        session.holder.descriptor(request.handle),
        request.lookup_id,
        relation,
        receive=request.receive,
        transaction=session.holder.transaction(request.transaction),
        two_phase=request.two_phase,
    )
    session.show(request.id, read.messages, read.packets, read.depends)


def end_receive(session: LocalSession, request: local.EndReceive) -> None:
    ended = session.manager.traffic.end_many(
        session.holder.descriptor(request.handle),
        request.lookup_ids,
        delete=request.delete,
        handed=request.handed,
    )
    session.done(request.id, len(request.lookup_ids), ended.depends)


def move(session: LocalSession, request: local.Move) -> None:
    moved = session.manager.traffic.move_many(
        session.holder.descriptor(request.handle),
        session.holder.descriptor(request.target),
        lookup_ids=request.lookup_ids,
        max_count=limited(request.count),
        transaction=session.holder.transaction(request.transaction),
        dry_run=request.dry_run,
        message_class=request.message_class,
    )
    session.done(request.id, {"count": moved.count, "lookup_ids": moved.lookup_ids}, moved.depends)


def reject(session: LocalSession, request: local.Reject) -> None:
    queue = session.holder.descriptor(request.handle).require(MAY_RECEIVE)
    transaction = session.holder.transaction(request.transaction)
    if transaction is None:
        raise QueueError(
            Hresult.MQ_ERROR_TRANSACTION_USAGE, f"{queue.path}: a rejection needs a transaction"
        )
    session.manager.traffic.reject_many(transaction, queue, request.lookup_ids)
    session.done(request.id, None, session.seen)


def purge(session: LocalSession, request: local.Purge) -> None:
    """One bounded step: the client asks again until `done`."""
    purged = session.manager.traffic.purge(
        session.holder.descriptor(request.handle), upto=request.upto
    )
    session.done(
        request.id,
        {"count": purged.count, "upto": purged.upto, "done": purged.done},
        purged.depends,
    )


def hold(session: LocalSession, request: local.Hold) -> None:
    result = session.manager.traffic.hold_many(
        session.holder.descriptor(request.handle), request.lookup_ids
    )
    session.show(request.id, result.messages, result.packets, result.depends)


def purge_messages(session: LocalSession, request: local.PurgeMessages) -> None:
    purged = session.manager.traffic.purge_many(
        session.holder.descriptor(request.handle), request.lookup_ids
    )
    session.done(request.id, purged.value, purged.depends)


def find_message(session: LocalSession, request: local.FindMessage) -> Steps:
    """Look at some messages per step, in queue order."""
    descriptor = session.holder.descriptor(request.handle)
    lookup_id = yield from session.manager.traffic.find_message(
        descriptor, request.identifier, correlation=request.correlation, hidden=request.hidden
    )
    session.done(request.id, lookup_id, session.seen)


def cancel(session: LocalSession, request: local.Cancel) -> None:
    # It may have got messages in this turn already; then its reply follows.
    cancelled = session.holder.cancel(request.request)
    session.done(request.id, cancelled or cancel_deferred(session, request.request))


def list_delayed(session: LocalSession, request: local.ListDelayed) -> Steps:
    parts = session.manager.set_aside.delayed(request.queue, caller=session.identity())
    return session.stream(request.id, parts)


def decide_set_aside(session: LocalSession, request: local.DecideSetAside) -> None:
    aside = session.manager.set_aside
    actions = {"deliver": aside.deliver, "cancel": aside.cancel, "release": aside.release}
    if request.action not in actions:
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"action {request.action!r} must be one of {', '.join(actions)}",
        )
    decided = actions[request.action](request.queue, request.lookup_ids, caller=session.identity())
    session.done(request.id, decided.value, decided.depends)


def begin_transaction(session: LocalSession, request: local.BeginTransaction) -> None:
    session.holder.begin(request.id, session.manager.traffic.new_guid())
    session.done(request.id)


def propagate_transaction(session: LocalSession, request: local.PropagateTransaction) -> None:
    transaction = session.holder.transaction(request.transaction)
    if transaction is None:
        raise QueueError(Hresult.MQ_ERROR_TRANSACTION_SEQUENCE, "0 is not a transaction")
    token = session.manager.coordination.token(transaction.identifier)
    session.done(
        request.id,
        {"id": transaction.identifier.bytes_le, "token": token.serialize()},
    )


def end_transaction(session: LocalSession, request: local.EndTransaction) -> None:
    coordination = session.manager.coordination
    transaction = session.holder.transaction(request.transaction)
    if request.commit and transaction is not None and transaction.identifier in coordination:
        # Participants decide, too; from now on the outcome does not depend on this client.
        deferred = defer(session, request)
        session.holder.release(request.transaction)
        coordination.commit(transaction.identifier, deferred)
        return
    ended = session.holder.end(request.transaction, commit=request.commit)
    session.done(request.id, None, ended.depends)


HANDLERS: Final[Handlers] = {
    local.OpenQueue: open_queue,
    local.CloseQueue: close_queue,
    local.OpenCursor: open_cursor,
    local.CloseCursor: close_cursor,
    local.OpenToSend: open_to_send,
    local.Send: send,
    local.SendEach: send_each,
    local.Receive: receive,
    local.Lookup: look_up,
    local.EndReceive: end_receive,
    local.Move: move,
    local.Reject: reject,
    local.Purge: purge,
    local.Hold: hold,
    local.PurgeMessages: purge_messages,
    local.FindMessage: find_message,
    local.Cancel: cancel,
    local.ListDelayed: list_delayed,
    local.DecideSetAside: decide_set_aside,
    local.BeginTransaction: begin_transaction,
    local.EndTransaction: end_transaction,
    local.PropagateTransaction: propagate_transaction,
}
