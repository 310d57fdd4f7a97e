"""The table of endpoints: routes, checks, the OpenAPI document, the reference and tests use it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from openmsmq.admin.trust.person import Role

from . import jobs, manager, messages, outgoing, queues, tracing

PREFIX: Final = "/api/v1"
READER, OPERATOR, ADMINISTRATOR = Role


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint.

    Args:
        call: takes the caller, the segments of the path, then the query, then the body.
        result: the type of the answer; `bytes` is a download, None no content.
        query, body: types that a request is checked against.
        group: heading of the reference.
        command: the command that does the same, or why there is none.
        page: the page that shows or does the same, or why there is none.
        bodies: whether the answer has bodies, so that the token must include them.
        whole: whether it is about the whole queue manager, so that a token for some queues is not
            enough.
    """

    method: str
    path: str
    name: str
    role: Role
    call: Callable[..., Awaitable[Any]]
    result: Any
    group: str
    command: str
    page: str
    query: Any = None
    body: Any = None
    bodies: bool = False
    whole: bool = False

    @property
    def words(self) -> str:
        """What it does: the first line of the function that does it."""
        return (self.call.__doc__ or "").strip().partition("\n")[0]

    @property
    def names(self) -> list[str]:
        """The named segments of the path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]

    @property
    def changes(self) -> bool:
        """Whether it changes something."""
        return self.method != "GET"


def _get(path: str, name: str, call: Any, result: Any, **more: Any) -> Endpoint:
    return Endpoint("GET", path, name, more.pop("role", READER), call, result, **more)


def _post(path: str, name: str, call: Any, result: Any, **more: Any) -> Endpoint:
    return Endpoint("POST", path, name, more.pop("role", OPERATOR), call, result, **more)


_MESSAGE: Final = "/queues/{queue}/messages/{lookup_id}"
_QUEUES: Final[dict[str, Any]] = {"group": "Queues", "page": "/queues/{queue}"}
_MESSAGES: Final[dict[str, Any]] = {"group": "Messages", "page": "/queues/{queue}"}
_OUTGOING: Final[dict[str, Any]] = {"group": "Outgoing queues", "page": "/outgoing/{destination}"}
_JOBS: Final[dict[str, Any]] = {"group": "Jobs", "page": "/jobs/{job}"}
_CONSOLE: Final[dict[str, Any]] = {"group": "Console", "page": "/settings"}
_DEFINITIONS: Final[dict[str, Any]] = {"group": "Definitions", "page": "/definitions"}

ENDPOINTS: Final[tuple[Endpoint, ...]] = (
    _get(
        "/status",
        "status",
        manager.show_status,
        dict[str, Any],
        group="Queue manager",
        command="status",
        page="/",
    ),
    _get(
        "/me", "me", manager.show_me, manager.Me, command="none: a shell knows its user", **_CONSOLE
    ),
    _get(
        "/settings",
        "settings",
        manager.show_settings,
        dict[str, Any],
        role=ADMINISTRATOR,
        command="config show",
        **_CONSOLE,
        whole=True,
    ),
    # Queues
    _get(
        "/queues",
        "list_queues",
        queues.list_queues,
        queues.QueueList,
        query=queues.QueueListQuery,
        group="Queues",
        command="queue list",
        page="/queues",
    ),
    _post(
        "/queues",
        "create_queue",
        queues.create_queue,
        queues.QueueRecord,
        role=ADMINISTRATOR,
        body=queues.QueueCreation,
        command="queue create",
        group="Queues",
        page="/queues",
    ),
    _get(
        "/queues/{queue}",
        "show_queue",
        queues.show_queue,
        queues.QueueRecord,
        command="queue show",
        **_QUEUES,
    ),
    Endpoint(
        "PATCH",
        "/queues/{queue}",
        "change_queue",
        ADMINISTRATOR,
        queues.change_queue,
        queues.QueueRecord,
        body=queues.QueueChange,
        command="queue set",
        **_QUEUES,
    ),
    Endpoint(
        "DELETE",
        "/queues/{queue}",
        "delete_queue",
        ADMINISTRATOR,
        queues.delete_queue,
        None,
        command="queue delete",
        **_QUEUES,
    ),
    _post(
        "/queues/{queue}/purge",
        "purge_queue",
        queues.purge_queue,
        queues.Counted,
        command="queue purge",
        **_QUEUES,
    ),
    _get(
        "/queues/{queue}/permissions",
        "list_permissions",
        queues.list_permissions,
        queues.Permissions,
        command="queue show",
        **_QUEUES,
    ),
    _post(
        "/queues/{queue}/permissions/grant",
        "grant",
        queues.grant,
        queues.Permissions,
        role=ADMINISTRATOR,
        body=queues.PermissionChange,
        command="queue grant",
        **_QUEUES,
    ),
    _post(
        "/queues/{queue}/permissions/revoke",
        "revoke",
        queues.revoke,
        queues.Permissions,
        role=ADMINISTRATOR,
        body=queues.PermissionChange,
        command="queue revoke",
        **_QUEUES,
    ),
    _get(
        "/queues/{queue}/explain",
        "explain_queue",
        tracing.explain,
        tracing.Explanation,
        group="Queues",
        command="queue explain",
        page="/queues/{queue}/activity",
    ),
    # Messages
    _get(
        "/queues/{queue}/messages",
        "list_messages",
        messages.list_messages,
        messages.MessageList,
        query=messages.BrowseQuery,
        command="peek",
        **_MESSAGES,
    ),
    _post(
        "/queues/{queue}/messages",
        "send_message",
        messages.send_message,
        messages.Sent,
        body=messages.MessageToSend,
        command="send",
        **_MESSAGES,
    ),
    _get(
        _MESSAGE,
        "show_message",
        messages.show_message,
        dict[str, Any],
        command="peek --lookup-id",
        **_MESSAGES,
    ),
    _get(
        _MESSAGE + "/body",
        "message_body",
        messages.message_body,
        bytes,
        bodies=True,
        command="peek --raw",
        **_MESSAGES,
    ),
    _get(
        _MESSAGE + "/packet",
        "message_packet",
        messages.message_packet,
        bytes,
        bodies=True,
        command="save",
        **_MESSAGES,
    ),
    _get(
        _MESSAGE + "/fields",
        "dissect_message",
        messages.dissect_message,
        messages.PacketRecord,
        bodies=True,
        command="decode",
        **_MESSAGES,
    ),
    _post(
        _MESSAGE + "/copy",
        "send_copy",
        messages.send_copy,
        messages.Sent,
        body=messages.CopyToSend,
        command="copy",
        **_MESSAGES,
    ),
    _post(
        "/queues/{queue}/receive",
        "receive_message",
        messages.receive_message,
        dict[str, Any],
        command="receive",
        group="Messages",
        page="none: programs receive, people look",
    ),
    _post(
        "/queues/{queue}/move",
        "move_messages",
        messages.move_messages,
        queues.Counted,
        body=messages.MessagesToMove,
        command="move",
        **_MESSAGES,
    ),
    _post(
        "/queues/{queue}/remove",
        "remove_messages",
        messages.remove_messages,
        queues.Counted,
        body=messages.MessagesToRemove,
        command="receive --lookup-id",
        **_MESSAGES,
    ),
    # Searches, dead letters, jobs
    _get(
        "/trace/{message}",
        "trace",
        tracing.trace,
        tracing.TraceRecord,
        whole=True,
        group="Search",
        command="trace",
        page="/find",
    ),
    _get(
        "/search",
        "search",
        jobs.find_messages,
        jobs.SearchResult,
        query=jobs.SearchQuery,
        group="Search",
        command="find",
        page="/find",
    ),
    _get(
        "/dead-letters",
        "list_dead_letters",
        jobs.list_dead_letters,
        jobs.DeadLetterGroups,
        query=jobs.DeadLetterQuery,
        group="Dead letters",
        command="deadletter list",
        page="/dead-letters",
        whole=True,
    ),
    _get(
        "/jobs",
        "list_jobs",
        jobs.list_jobs,
        jobs.JobList,
        group="Jobs",
        command="none: commands run their jobs themselves",
        page="/jobs",
    ),
    _post(
        "/jobs",
        "begin_job",
        jobs.begin_job,
        jobs.JobRecord,
        body=jobs.JobToBegin,
        group="Jobs",
        command="retry, copy, move, deadletter retry",
        page="/jobs",
    ),
    _get(
        "/jobs/{job}", "show_job", jobs.show_job, jobs.JobRecord, command="none: as above", **_JOBS
    ),
    _get(
        "/jobs/{job}/results",
        "job_results",
        jobs.job_results,
        jobs.JobResults,
        command="none: as above",
        **_JOBS,
    ),
    _post(
        "/jobs/{job}/stop",
        "stop_job",
        jobs.stop_job,
        jobs.JobRecord,
        command="none: Ctrl-C stops a command",
        **_JOBS,
    ),
    _post(
        "/jobs/{job}/resume",
        "resume_job",
        jobs.resume_job,
        jobs.JobRecord,
        command="retry --resume",
        **_JOBS,
    ),
    _post("/jobs/{job}/undo", "undo_job", jobs.undo, jobs.Undone, command="retry --undo", **_JOBS),
    # Outgoing queues
    _get(
        "/outgoing",
        "list_outgoing",
        outgoing.list_outgoing,
        outgoing.OutgoingList,
        group="Outgoing queues",
        command="outgoing",
        page="/outgoing",
    ),
    _get(
        "/outgoing/{destination}",
        "show_outgoing",
        outgoing.show_outgoing,
        outgoing.OutgoingRecord,
        command="outgoing show",
        **_OUTGOING,
    ),
    _get(
        "/outgoing/{destination}/messages",
        "outgoing_messages",
        outgoing.outgoing_messages,
        messages.MessageList,
        command="outgoing peek",
        **_OUTGOING,
        whole=True,
    ),
    _post(
        "/outgoing/{destination}/pause",
        "pause_outgoing",
        outgoing.pause_outgoing,
        outgoing.OutgoingRecord,
        command="outgoing pause",
        **_OUTGOING,
        whole=True,
    ),
    _post(
        "/outgoing/{destination}/resume",
        "resume_outgoing",
        outgoing.resume_outgoing,
        outgoing.OutgoingRecord,
        command="outgoing resume",
        **_OUTGOING,
        whole=True,
    ),
    _post(
        "/outgoing/{destination}/purge",
        "purge_outgoing",
        outgoing.purge_outgoing,
        queues.Counted,
        command="outgoing purge",
        **_OUTGOING,
        whole=True,
    ),
    # Transactions, sessions, clients
    _get(
        "/transactions",
        "list_transactions",
        manager.list_transactions,
        manager.Records,
        group="Transactions",
        command="transaction list",
        page="/transactions",
    ),
    _post(
        "/transactions/{transaction}/resolve",
        "resolve_transaction",
        manager.resolve_transaction,
        None,
        role=ADMINISTRATOR,
        body=manager.TransactionDecision,
        group="Transactions",
        command="transaction resolve",
        page="/transactions",
        whole=True,
    ),
    _get(
        "/sessions",
        "list_sessions",
        manager.list_sessions,
        manager.Records,
        group="Sessions",
        command="status",
        page="/sessions",
    ),
    _get(
        "/clients",
        "list_clients",
        manager.list_clients,
        manager.Records,
        group="Sessions",
        command="status",
        page="/sessions",
    ),
    # Definitions
    _get(
        "/definitions",
        "definitions",
        manager.definitions_json,
        dict[str, Any],
        role=ADMINISTRATOR,
        command="export --json",
        **_DEFINITIONS,
        whole=True,
    ),
    _get(
        "/definitions.toml",
        "export_definitions",
        manager.export_definitions,
        bytes,
        role=ADMINISTRATOR,
        command="export",
        **_DEFINITIONS,
        whole=True,
    ),
    _post(
        "/definitions/diff",
        "diff_definitions",
        manager.diff_definitions,
        manager.Changes,
        role=ADMINISTRATOR,
        body=manager.DefinitionsText,
        command="diff",
        **_DEFINITIONS,
        whole=True,
    ),
    _post(
        "/definitions/apply",
        "apply_definitions",
        manager.apply_definitions,
        manager.Changes,
        role=ADMINISTRATOR,
        body=manager.DefinitionsText,
        command="apply",
        **_DEFINITIONS,
        whole=True,
    ),
    # The console
    _get(
        "/tokens",
        "list_tokens",
        manager.list_tokens,
        manager.TokenList,
        role=ADMINISTRATOR,
        command="console token list",
        **_CONSOLE,
        whole=True,
    ),
    _post(
        "/tokens",
        "add_token",
        manager.add_token,
        manager.NewToken,
        role=ADMINISTRATOR,
        body=manager.TokenToAdd,
        command="console token add",
        **_CONSOLE,
        whole=True,
    ),
    Endpoint(
        "DELETE",
        "/tokens/{token}",
        "remove_token",
        ADMINISTRATOR,
        manager.remove_token,
        None,
        command="console token remove",
        **_CONSOLE,
        whole=True,
    ),
    _get(
        "/audit",
        "list_audit",
        manager.list_audit,
        manager.AuditEntries,
        role=ADMINISTRATOR,
        query=manager.AuditQuery,
        group="Console",
        command="audit",
        page="/audit",
        whole=True,
    ),
    _post(
        "/backup",
        "backup",
        manager.backup,
        dict[str, Any],
        role=ADMINISTRATOR,
        body=manager.BackupFile,
        command="backup",
        **_CONSOLE,
        whole=True,
    ),
)
