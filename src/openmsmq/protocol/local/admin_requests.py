"""Requests about the queue manager itself, its outgoing queues, sessions and transactions."""

from typing import Final

from openmsmq.core.management.queue_infos import redirection_info
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from . import messages as local
from .deferred import defer
from .queue_requests import permission_change
from .session import Handlers, LocalSession, Steps


def get_status(session: LocalSession, request: local.GetStatus) -> None:
    process = session.service.process_info()
    status = session.manager.management.status(process, caller=session.identity())
    session.done(request.id, status, session.seen)


def list_outgoing(session: LocalSession, request: local.ListOutgoing) -> Steps:
    outgoing = session.manager.management.outgoing(caller=session.identity())
    return session.stream(request.id, outgoing)


def hold_outgoing(session: LocalSession, request: local.HoldOutgoing) -> None:
    outgoing = session.manager.outgoing
    queue = outgoing.find(request.destination)
    if request.pause:
        outgoing.pause(queue, caller=session.identity())
    else:
        outgoing.resume(queue, caller=session.identity())
    session.done(request.id, session.manager.management.describe_outgoing(queue), session.seen)


def show_outgoing(session: LocalSession, request: local.ShowOutgoing) -> None:
    queue = session.manager.outgoing.find(request.destination)
    info = session.manager.management.show_outgoing(queue, caller=session.identity())
    session.done(request.id, info, session.seen)


def delete_outgoing(session: LocalSession, request: local.DeleteOutgoing) -> None:
    outgoing = session.manager.outgoing
    outgoing.delete(outgoing.find(request.destination), caller=session.identity())
    session.done(request.id, None, session.seen)


def list_redirections(session: LocalSession, request: local.ListRedirections) -> None:
    found = session.manager.redirections.listed(caller=session.identity())
    session.done(request.id, [redirection_info(each) for each in found], session.seen)


def change_redirection(session: LocalSession, request: local.ChangeRedirection) -> None:
    """`redirection add` and `redirection remove`."""
    redirections = session.manager.redirections
    if request.remove:
        redirections.remove(request.kind, request.url, caller=session.identity())
        session.done(request.id, None, session.seen)
        return
    added = redirections.add(request.kind, request.url, request.to, caller=session.identity())
    session.done(request.id, redirection_info(added), session.seen)


def list_sessions(session: LocalSession, request: local.ListSessions) -> Steps:
    sessions = session.manager.management.sessions(caller=session.identity())
    return session.stream(request.id, sessions)


def list_clients(session: LocalSession, request: local.ListClients) -> Steps:
    clients = session.manager.management.clients(caller=session.identity())
    return session.stream(request.id, clients)


def list_transactions(session: LocalSession, request: local.ListTransactions) -> Steps:
    transactions = session.manager.management.transactions(caller=session.identity())
    return session.stream(request.id, transactions)


def machine_rights(session: LocalSession, request: local.MachineRights) -> None:
    permissions = session.manager.management.permissions(
        caller=session.identity(), accounts=session.service.accounts
    )
    session.done(request.id, permissions, session.seen)


def grant_machine(session: LocalSession, request: local.GrantMachine) -> None:
    """`machine grant` and `machine revoke`."""
    permissions = session.manager.management.change_permissions(
        permission_change(deny=request.deny, revoke=request.revoke),
        request.principal,
        request.rights,
        caller=session.identity(),
        accounts=session.service.accounts,
    )
    session.done(request.id, permissions, session.seen)


def backup(session: LocalSession, request: local.Backup) -> None:
    session.manager.management.require_administrator(session.identity(), "back it up")
    if not request.file.startswith("/"):
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"file: {request.file!r} must start with /, as the queue manager is elsewhere",
        )
    # One that was begun is finished although the client goes.
    session.service.backup(request.file, defer(session, request))


HANDLERS: Final[Handlers] = {
    local.GetStatus: get_status,
    local.ListOutgoing: list_outgoing,
    local.HoldOutgoing: hold_outgoing,
    local.ShowOutgoing: show_outgoing,
    local.DeleteOutgoing: delete_outgoing,
    local.ListRedirections: list_redirections,
    local.ChangeRedirection: change_redirection,
    local.ListSessions: list_sessions,
    local.ListClients: list_clients,
    local.ListTransactions: list_transactions,
    local.MachineRights: machine_rights,
    local.GrantMachine: grant_machine,
    local.Backup: backup,
}
