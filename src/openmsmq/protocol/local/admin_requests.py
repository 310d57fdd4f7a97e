"""Requests about the queue manager itself, its outgoing queues, sessions and transactions."""

from functools import partial
from typing import Final
from uuid import UUID

from openmsmq.core.definitions.plan import PlanOptions
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


def sample(session: LocalSession, request: local.Sample) -> Steps:
    """The changes since an earlier sample, in steps."""
    service = session.service
    parts = session.manager.management.sample(
        request.since,
        service.process_info(),
        service.process_metrics(),
        caller=session.identity(),
    )
    return session.stream(request.id, parts)


def reload(session: LocalSession, request: local.Reload) -> None:
    session.manager.management.require_administrator(session.identity(), "let it read files again")
    session.done(request.id, session.service.reload(), session.seen)


def hang_up(session: LocalSession, request: local.HangUp) -> None:
    management = session.manager.management
    management.hang_up(request.protocol, request.number, caller=session.identity())
    session.done(request.id, None, session.seen)


def list_readers(session: LocalSession, request: local.ListReaders) -> Steps:
    readers = session.manager.management.readers(
        request.path, caller=session.identity(), accounts=session.service.accounts
    )
    return session.stream(request.id, readers)


def watch(session: LocalSession, request: local.Watch) -> None:
    """Answered at once, or with the next event; the client asks again after it."""
    session.manager.management.require_administrator(session.identity(), "watch everything")
    session.service.watch(request.after, lambda stop: defer(session, request, stop))


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


def explain_route(session: LocalSession, request: local.ExplainRoute) -> None:
    route = session.manager.management.route(request.destination, caller=session.identity())
    session.done(request.id, route, session.seen)


def list_redirections(session: LocalSession, request: local.ListRedirections) -> None:
    redirections = session.manager.redirections.listed(caller=session.identity())
    session.done(
        request.id, [redirection_info(redirection) for redirection in redirections], session.seen
    )


def change_redirection(session: LocalSession, request: local.ChangeRedirection) -> None:
    """`redirection add` and `redirection remove`."""
    redirections = session.manager.redirections
    if request.remove:
        redirections.remove(request.kind, request.url, caller=session.identity())
        session.done(request.id, None, session.seen)
        return
    added = redirections.add(request.kind, request.url, request.to, caller=session.identity())
    session.done(request.id, redirection_info(added), session.seen)


def export_definitions(session: LocalSession, request: local.ExportDefinitions) -> None:
    definitions = session.manager.definer.export(
        caller=session.identity(), accounts=session.service.accounts
    )
    session.done(request.id, definitions, session.seen)


def apply_definitions(session: LocalSession, request: local.ApplyDefinitions) -> None:
    """`apply` and `diff`: every check first, then all changes in this one step, or none."""
    definer = session.manager.definer
    options = PlanOptions(
        prune=request.prune,
        force=request.force,
        recreate=request.recreate,
        compare=request.compare,
    )
    caller, accounts = session.identity(), session.service.accounts
    if request.dry_run or request.compare:
        plan = definer.plan(request.definitions, options, caller=caller, accounts=accounts)
        changes = tuple(plan.changes)
    else:
        changes = definer.apply(
            request.definitions, options, caller=caller, accounts=accounts
        ).value
    session.done(request.id, changes, session.seen)


def list_sessions(session: LocalSession, request: local.ListSessions) -> Steps:
    sessions = session.manager.management.sessions(caller=session.identity())
    return session.stream(request.id, sessions)


def list_clients(session: LocalSession, request: local.ListClients) -> Steps:
    clients = session.manager.management.clients(caller=session.identity())
    return session.stream(request.id, clients)


def list_transactions(session: LocalSession, request: local.ListTransactions) -> Steps:
    transactions = session.manager.management.transactions(caller=session.identity())
    return session.stream(request.id, transactions)


def user_certificates(session: LocalSession, request: local.UserCertificates) -> None:
    """`key register`, `key unregister` and `key show`."""
    identities, caller = session.manager.management.identities, session.identity()
    if request.add:
        certificates = identities.register_certificate(request.add, caller=caller)
    elif request.remove:
        certificates = identities.unregister_certificate(request.remove, caller=caller)
    else:
        certificates = identities.certificates(caller=caller)
    session.done(request.id, certificates, session.seen)


def resolve_transaction(session: LocalSession, request: local.ResolveTransaction) -> None:
    manager = session.manager
    manager.management.require_administrator(
        session.identity(), "end transactions that are in doubt"
    )
    try:
        identifier = UUID(request.transaction)
    except ValueError as exc:
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"{request.transaction} is not a transaction",
            remedy="Compare the id with `openmsmq transaction list`.",
        ) from exc
    if identifier in manager.coordination.unconfirmed():
        if not request.commit:
            raise QueueError(
                Hresult.MQ_ERROR_TRANSACTION_SEQUENCE,
                f"transaction {identifier} is committed here; only its participants do not know",
            )
        resolve = partial(manager.coordination.forget, identifier)
    else:
        manager.enlisted.check_in_doubt(identifier)
        resolve = partial(manager.enlisted.resolve, identifier, commit=request.commit)
    session.done(request.id, None, session.seen if request.dry_run else resolve().depends)


def machine_rights(session: LocalSession, request: local.MachineRights) -> None:
    permissions = session.manager.management.permissions(
        caller=session.identity(), accounts=session.service.accounts
    )
    session.done(request.id, permissions, session.seen)


def explain_access(session: LocalSession, request: local.ExplainAccess) -> None:
    """`queue explain --principal` and `machine explain`."""
    service = session.service
    answers = session.manager.management.explain_access(
        request.path,
        service.caller_named(request.principal),
        caller=session.identity(),
        accounts=service.accounts,
    )
    session.done(request.id, answers, session.seen)


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


def set_online(session: LocalSession, request: local.SetOnline) -> None:
    """`machine offline` and `machine online`."""
    session.manager.outgoing.set_online(active=request.online, caller=session.identity())
    session.done(request.id, None, session.seen)


def backup(session: LocalSession, request: local.Backup) -> None:
    session.manager.management.require_administrator(session.identity(), "back it up")
    if not request.file.startswith("/"):
        raise QueueError(
            Hresult.MQ_ERROR_INVALID_PARAMETER,
            f"file: {request.file!r} must start with /, as the queue manager is elsewhere",
        )
    # A request that was begun is finished even when the client disconnects.
    session.service.backup(request.file, defer(session, request))


def trace_message(session: LocalSession, request: local.TraceMessage) -> None:
    session.manager.management.require_traffic(session.identity())
    session.service.trace(request.identifier, defer(session, request))


def machine_keys(session: LocalSession, request: local.MachineKeys) -> None:
    session.manager.management.require_administrator(session.identity(), "use its keys")
    if request.action == "list":
        session.done(request.id, session.service.machine_keys(), session.seen)
        return
    # A request that was begun is finished even when the client disconnects.
    answer = defer(session, request)
    if request.action == "rotate":
        session.service.rotate_machine_keys(answer)
    else:
        session.service.export_machine_keys(answer)


def import_machine_keys(session: LocalSession, request: local.ImportMachineKeys) -> None:
    session.manager.management.require_administrator(session.identity(), "import keys")
    imported = session.manager.management.identities.import_public_keys(
        request.guid, request.name, request.keys
    )
    session.done(request.id, imported, session.seen)


HANDLERS: Final[Handlers] = {
    local.GetStatus: get_status,
    local.Sample: sample,
    local.Reload: reload,
    local.HangUp: hang_up,
    local.ListReaders: list_readers,
    local.Watch: watch,
    local.ListOutgoing: list_outgoing,
    local.HoldOutgoing: hold_outgoing,
    local.ShowOutgoing: show_outgoing,
    local.DeleteOutgoing: delete_outgoing,
    local.ExplainRoute: explain_route,
    local.ListRedirections: list_redirections,
    local.ChangeRedirection: change_redirection,
    local.ListSessions: list_sessions,
    local.ListClients: list_clients,
    local.ListTransactions: list_transactions,
    local.UserCertificates: user_certificates,
    local.ResolveTransaction: resolve_transaction,
    local.MachineRights: machine_rights,
    local.ExplainAccess: explain_access,
    local.GrantMachine: grant_machine,
    local.SetOnline: set_online,
    local.Backup: backup,
    local.TraceMessage: trace_message,
    local.ExportDefinitions: export_definitions,
    local.ApplyDefinitions: apply_definitions,
    local.MachineKeys: machine_keys,
    local.ImportMachineKeys: import_machine_keys,
}
