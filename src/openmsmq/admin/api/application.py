"""The endpoints of the table as an application: checks, calls, answers."""

from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, get_args, get_origin

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from openmsmq.admin.front_desk import Caller, FrontDesk
from openmsmq.admin.trust.audit import Entry
from openmsmq.admin.trust.guard import cookie_name
from openmsmq.admin.trust.problems import Problem, problem_of
from openmsmq.admin.web import WebRoute
from openmsmq.wire.definitions.validation import reason_and_place
from openmsmq.wire.errors import MsmqError

from .arranging import ListQuery, arranged
from .document import openapi_document
from .endpoint import RECORDS, is_entry
from .jobs import JobRecord, Undone
from .manager import Changes
from .messages import CopyToSend, MessageToSend
from .queues import Counted
from .repeats import KEPT_KEYS, Repeats, request_key
from .table import ENDPOINTS, PREFIX, Endpoint
from .watching import LAST_EVENT, EventsQuery

# The target of a request without one in its path: the first of these that it has.
TARGETS: Final = ("name", "file", "target", "principal", "url")
# Not in the audit log, or in other fields there.
NOT_NOTED: Final = ("text", "lookup_ids", "where", "filter")
MESSAGE_BODIES: Final = (MessageToSend, CopyToSend)
ONE_MESSAGE: Final = ("send_message", "send_copy", "receive_message")
# The results of ended jobs in the audit log, like all others there.
AUDIT_WORDS: Final = {"finished": "done"}
SESSION_COOKIES: Final = {cookie_name(tls=tls) for tls in (False, True)}


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The query or body of an endpoint without one."""


class Api:
    """The routes of the API."""

    def __init__(self, desk: FrontDesk) -> None:
        self._desk = desk
        self._repeats = Repeats(desk.audit.keyed(2 * KEPT_KEYS))

    def routes(self) -> list[WebRoute]:
        """A route for each endpoint, and the document of all of them."""
        routes = [WebRoute(each.method, each.path, self._handler(each)) for each in ENDPOINTS]
        return [*routes, WebRoute("GET", "/openapi.json", self._document)]

    async def _document(self, request: Request, names: dict[str, str]) -> Response:
        del names
        self._caller(request)
        return Response(msgspec.json.encode(openapi_document()), media_type="application/json")

    def _caller(self, request: Request) -> Caller:
        state = request.state
        if state.person is None and SESSION_COOKIES & request.cookies.keys():
            raise Problem(
                401,
                "Your session has ended.",
                cause="It was not used for long, or its token was changed or the console started "
                "again.",
                remedy="Sign in again.",
            )
        if state.person is None:
            raise Problem(
                401,
                "This needs a token.",
                cause="The request has no Authorization header.",
                remedy="Send `Authorization: Bearer TOKEN`; `openmsmq console token add` makes "
                "one.",
            )
        return Caller(self._desk, state.person, state.session)

    def _handler(
        self, endpoint: Endpoint
    ) -> Callable[[Request, dict[str, str]], Awaitable[Response]]:
        async def handle(request: Request, names: dict[str, str]) -> Response:
            caller = self._caller(request)
            caller.need(endpoint.role)
            if "queue" in names:
                caller.need_queue(names["queue"])
            if endpoint.whole:
                caller.need_every_queue()
            if endpoint.bodies:
                caller.need_bodies()
            content = await request.body()
            arguments = read_arguments(request, endpoint, names, content)
            if endpoint.stream:
                parts = await self._desk.answered(endpoint.call(caller, *arguments))
                return StreamingResponse(parts, media_type=endpoint.stream)
            if not endpoint.changes:
                result = await self._desk.answered(endpoint.call(caller, *arguments))
                if endpoint.arranged:
                    result = arranged(result, endpoint.entries, read_query(request, ListQuery))
                fields = request.query_params.get("fields")
                if fields is not None:
                    result = narrowed(result, fields)
                return answer(endpoint, result, names)
            return await self._once(request, caller, endpoint, arguments, content)

        return handle

    async def _once(
        self,
        request: Request,
        caller: Caller,
        endpoint: Endpoint,
        arguments: list[Any],
        content: bytes,
    ) -> Response:
        """Make a change; a repeated request with the same Idempotency-Key has one effect."""
        key = request_key(request, caller.person, content)
        if key is None:
            return await self._change(caller, endpoint, arguments)
        # Without a queue manager, nothing is begun and the same key can be used again.
        await self._desk.answered((await caller.manager()).status())
        before = self._repeats.answer(key)
        if before is not None:
            return before
        try:
            response = await self._change(caller, endpoint, arguments, key=key.text)
        except BaseException as exc:
            self._repeats.failed(key, exc)
            raise
        self._repeats.done(key, response)
        return response

    async def _change(
        self, caller: Caller, endpoint: Endpoint, arguments: list[Any], *, key: str = ""
    ) -> Response:
        """Make a change, recorded in the audit log before and after."""
        audit, names = self._desk.audit, arguments[: len(endpoint.names)]
        asked = [each for each in arguments[len(names) :] if not isinstance(each, bytes)]
        entry = audit.begin(
            caller.person,
            endpoint.name,
            target=target_of(names, asked),
            filter="".join(_which(each) for each in asked),
            key=key,
        )
        try:
            result = await self._desk.answered(endpoint.call(caller, *arguments))
        except MsmqError as exc:
            problem = problem_of(exc, changing=True)
            audit.end(entry, problem.record.name)
            raise problem from exc
        except BaseException:
            audit.end(entry, "failed")
            raise
        if isinstance(result, JobRecord):
            self._note_job(entry, result)
        else:
            dry_run = endpoint.dry or any(getattr(each, "dry_run", False) for each in asked)
            word = "dry run" if dry_run else "done"
            audit.end(entry, word, count=count_of(endpoint, result))
        return answer(endpoint, result, {})

    def _note_job(self, entry: Entry, job: JobRecord) -> None:
        """Record the state of a job, and if it still runs, again when it has ended."""
        entry = msgspec.structs.replace(entry, job=job.id)
        audit = self._desk.audit
        if job.state != "running":
            audit.end(entry, AUDIT_WORDS.get(job.state, job.state), count=job.messages)
            return
        audit.end(entry, "begun", count=job.messages)

        def note_end() -> None:
            state = self._desk.care.state(self._desk.care.job(job.id))
            audit.end(entry, AUDIT_WORDS.get(state, state), count=job.messages)

        self._desk.care.when_ended(job.id, note_end)


def count_of(endpoint: Endpoint, result: Any) -> int | None:
    """The number of messages or definitions of a change, where known."""
    if isinstance(result, (Counted, Changes)):
        return result.count
    if isinstance(result, Undone):
        return result.undone
    return 1 if endpoint.name in ONE_MESSAGE else None


def target_of(names: list[str], asked: list[Any]) -> str:
    """The target of a change, with all fields of the request but contents of messages."""
    words = list(names)
    for each in asked:
        if not words:
            words = [str(getattr(each, name)) for name in TARGETS if getattr(each, name, "")][:1]
        for field in msgspec.structs.fields(each):
            value = getattr(each, field.name)
            of_message = isinstance(each, MESSAGE_BODIES) and field.name != "to"
            if of_message or field.name in NOT_NOTED or value in (None, field.default, []):
                continue
            text = ", ".join(value) if isinstance(value, list) else str(value)
            if text not in words:
                words.append(field.name if value is True else f"{field.name}={text}")
    return " ".join(words)


def _which(body: Any) -> str:
    """The messages of a request, described without their bodies."""
    ids = getattr(body, "lookup_ids", None)
    if ids:
        return ", ".join(ids[:20]) + (" …" if len(ids) > 20 else "")
    where = getattr(body, "where", None) or getattr(body, "filter", None)
    return (
        ""
        if not where
        else where
        if isinstance(where, str)
        else msgspec.json.encode(where).decode()
    )


def read_arguments(
    request: Request, endpoint: Endpoint, names: dict[str, str], content: bytes
) -> list[Any]:
    """The arguments of an endpoint: names of the path, the query, the body.

    Raises:
        Problem: 400, an argument is invalid, or not taken by the endpoint: a filter
            or `dry_run` that is ignored would change more than intended.
    """
    arguments: list[Any] = [names[name] for name in endpoint.names]
    if endpoint.query is not None:
        arguments.append(read_query(request, endpoint.query))
    elif not endpoint.arranged:
        read_query(request, Nothing)
    if endpoint.body is bytes:
        arguments.append(content)
    elif endpoint.body is not None:
        arguments.append(read_body(content, endpoint.body))
    elif endpoint.changes:
        read_body(content, Nothing)
    return arguments


def read_query(request: Request, kind: Any) -> Any:
    """The query of a request.

    Raises:
        Problem: 400, a parameter is unknown or invalid.
    """
    known = kind.__struct_fields__
    values: dict[str, Any] = dict(request.query_params)
    if kind is EventsQuery and (last := request.headers.get(LAST_EVENT)):
        # A client whose connection broke repeats the address of its first request.
        values["after"] = last
    for field in msgspec.structs.fields(kind):
        if field.name in values and get_origin(field.type) is list:
            values[field.name] = request.query_params.getlist(field.name)
    unknown = sorted(set(values) - {*known, "fields"})
    if unknown:
        raise Problem(
            400,
            f"There is no parameter {unknown[0]!r}.",
            remedy=f"Use some of {', '.join((*known, 'fields'))}." if known else "Leave it out.",
            name="BAD_PARAMETER",
        )
    values.pop("fields", None)
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as exc:
        raise Problem(400, _fault(exc, kind), name="BAD_PARAMETER") from exc


def narrowed(result: Any, fields: str) -> dict[str, Any]:
    """A list whose entries have only the named properties, separated by commas.

    Raises:
        Problem: 400, the answer is not a list, or its entries have no such property.
    """
    lists = {
        field.name: get_args(field.type)[0]
        for field in (msgspec.structs.fields(result) if isinstance(result, msgspec.Struct) else ())
        if get_origin(field.type) is list and is_entry(get_args(field.type)[0])
    }
    if not lists:
        raise Problem(400, "'fields' goes with lists only.", name="BAD_PARAMETER")
    wanted = [field for field in fields.split(",") if field]
    content: dict[str, Any] = msgspec.to_builtins(result, enc_hook=str)
    for name, kind in lists.items():
        entries = content[name]
        known = _properties(kind, entries)
        for field in wanted:
            if known is not None and field not in known:
                raise Problem(
                    400,
                    f"There is no field {field!r}.",
                    remedy=f"Use some of {', '.join(known)}.",
                    name="BAD_PARAMETER",
                )
        content[name] = [
            {field: entry[field] for field in wanted if field in entry} for entry in entries
        ]
    return content


def _properties(kind: Any, entries: list[dict[str, Any]]) -> Collection[str] | None:
    """The properties of entries of a list; None for an empty list without a type."""
    if kind in RECORDS:
        return dict.fromkeys(name for entry in entries for name in entry) if entries else None
    properties: tuple[str, ...] = kind.__struct_fields__
    return properties


def read_body(content: bytes, kind: Any) -> Any:
    """The body of a request.

    Raises:
        Problem: 400, it is not JSON or invalid.
    """
    try:
        return msgspec.json.decode(content or b"{}", type=kind)
    except msgspec.ValidationError as exc:
        detail = f"The request cannot be read: {_fault(exc, kind)}"
        raise Problem(400, detail, name="BAD_REQUEST") from exc
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
        raise Problem(400, f"The request cannot be read: {exc}", name="BAD_REQUEST") from exc


def _fault(error: msgspec.ValidationError, kind: Any) -> str:
    """The error, and its place."""
    reason, place = reason_and_place(error, kind)
    return f"{reason} - at `{place}`" if place else reason


def answer(endpoint: Endpoint, result: Any, names: dict[str, str]) -> Response:
    """The answer with a result; a download is named after digits of the path."""
    if endpoint.result is None:
        return Response(status_code=204)
    if endpoint.result is bytes:
        headers = {"Content-Disposition": f'attachment; filename="{endpoint.file.format(**names)}"'}
        return Response(result, media_type="application/octet-stream", headers=headers)
    return Response(
        msgspec.json.encode(result, enc_hook=str),
        status_code=201 if endpoint.name == "create_queue" else 200,
        media_type="application/json",
    )


__all__ = ["PREFIX", "Api"]
