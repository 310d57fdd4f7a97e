"""The endpoints of the table as an application: checks, calls, answers."""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, get_args, get_origin

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from openmsmq.admin.front_desk import Caller, FrontDesk
from openmsmq.admin.trust.guard import cookie_name
from openmsmq.admin.trust.problems import Problem, problem_of
from openmsmq.admin.web import WebRoute
from openmsmq.wire.definitions.validation import reason_and_place
from openmsmq.wire.errors import MsmqError

from .arranging import ListQuery, arranged
from .document import openapi_document
from .endpoint import RECORDS, is_entry
from .table import ENDPOINTS, PREFIX, Endpoint

# Answers to requests with an Idempotency-Key are kept this long, so many at most.
KEPT_SECONDS: Final = 3600.0
KEPT_ANSWERS: Final = 10_000
LONGEST_KEY: Final = 200
SESSION_COOKIES: Final = {cookie_name(tls=tls) for tls in (False, True)}


class Api:
    """The routes of the API."""

    def __init__(self, desk: FrontDesk) -> None:
        self._desk = desk
        self._kept: OrderedDict[str, tuple[float, str, Response | None]] = OrderedDict()

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
            arguments: list[Any] = [names[name] for name in endpoint.names]
            if endpoint.query is not None:
                arguments.append(read_query(request, endpoint.query))
            content = await request.body()
            if endpoint.body is bytes:
                arguments.append(content)
            elif endpoint.body is not None:
                arguments.append(read_body(content, endpoint.body))
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
        """Change something; a repeated request with the same Idempotency-Key does so once."""
        key = request.headers.get("idempotency-key", "")
        if not key:
            return await self._change(caller, endpoint, arguments)
        if len(key) > LONGEST_KEY:
            raise Problem(400, f"Idempotency-Key has up to {LONGEST_KEY} characters.")
        who = f"{caller.person.principal}\n{caller.person.credential}\n{key}"
        what = hashlib.sha256(
            f"{request.method} {request.scope['raw_path']!r}\n".encode() + content
        ).hexdigest()
        now = time.monotonic()
        while self._kept and next(iter(self._kept.values()))[0] < now - KEPT_SECONDS:
            self._kept.popitem(last=False)
        if who in self._kept:
            _, before, response = self._kept[who]
            if before != what:
                raise Problem(
                    422,
                    "This Idempotency-Key was used for another request.",
                    cause="A key stands for one request, for an hour.",
                    remedy="Make a new key for each request that is to take effect.",
                )
            if response is None:
                raise Problem(
                    409,
                    "The first request with this Idempotency-Key still runs.",
                    cause="It was repeated before it was answered.",
                    remedy="Repeat it a little later to get its answer.",
                )
            return response
        self._kept[who] = (now, what, None)
        try:
            response = await self._change(caller, endpoint, arguments)
        except BaseException:
            # What was refused may be tried again.
            del self._kept[who]
            raise
        self._kept[who] = (now, what, response)
        if len(self._kept) > KEPT_ANSWERS:
            self._kept.popitem(last=False)
        return response

    async def _change(self, caller: Caller, endpoint: Endpoint, arguments: list[Any]) -> Response:
        """Change something, noted in the audit log before and after."""
        names = arguments[: len(endpoint.names)]
        asked = [each for each in arguments[len(names) :] if not isinstance(each, bytes)]
        body = asked[-1] if asked else None
        entry = self._desk.audit.begin(
            caller.person,
            endpoint.name,
            target=" ".join(names) or _target(body),
            filter=_which(body),
        )
        try:
            result = await self._desk.answered(endpoint.call(caller, *arguments))
        except MsmqError as exc:
            problem = problem_of(exc, changing=True)
            self._desk.audit.end(entry, problem.record.name)
            raise problem from exc
        except BaseException:
            self._desk.audit.end(entry, "failed")
            raise
        dry_run = any(getattr(each, "dry_run", False) for each in asked)
        self._desk.audit.end(
            entry,
            "dry run" if dry_run else "done",
            count=getattr(result, "count", None),
            job=str(getattr(result, "id", "")),
        )
        return answer(endpoint, result, {})


def _target(body: Any) -> str:
    """What a request without a name in its path is about."""
    for name in ("name", "file", "to", "target"):
        value = getattr(body, name, "")
        if value:
            return str(value)
    return ", ".join(getattr(body, "sources", ()))


def _which(body: Any) -> str:
    """Which messages a request is about; never their bodies."""
    ids = getattr(body, "lookup_ids", None)
    if ids:
        return ", ".join(ids[:20]) + (" …" if len(ids) > 20 else "")
    where = getattr(body, "where", None)
    return (
        ""
        if not where
        else where
        if isinstance(where, str)
        else msgspec.json.encode(where).decode()
    )


def read_query(request: Request, kind: Any) -> Any:
    """The query of a request.

    Raises:
        Problem: 400, a parameter is unknown or does not fit.
    """
    values = dict(request.query_params)
    unknown = sorted(set(values) - {*kind.__struct_fields__, "fields"})
    if unknown:
        raise Problem(
            400,
            f"There is no parameter {unknown[0]!r}.",
            remedy=f"Use some of {', '.join((*kind.__struct_fields__, 'fields'))}.",
            name="BAD_PARAMETER",
        )
    values.pop("fields", None)
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as exc:
        raise Problem(400, _fault(exc, kind), name="BAD_PARAMETER") from exc


def narrowed(result: Any, fields: str) -> dict[str, Any]:
    """A list whose entries have some of their properties only, named with commas between them.

    Raises:
        Problem: 400, the answer is no list, or its entries have no such property.
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
    """What entries of a list may have; None if they have no type and there are none."""
    if kind in RECORDS:
        return dict.fromkeys(name for entry in entries for name in entry) if entries else None
    properties: tuple[str, ...] = kind.__struct_fields__
    return properties


def read_body(content: bytes, kind: Any) -> Any:
    """The body of a request.

    Raises:
        Problem: 400, it is no JSON or does not fit.
    """
    try:
        return msgspec.json.decode(content or b"{}", type=kind)
    except msgspec.ValidationError as exc:
        detail = f"The request cannot be read: {_fault(exc, kind)}"
        raise Problem(400, detail, name="BAD_REQUEST") from exc
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
        raise Problem(400, f"The request cannot be read: {exc}", name="BAD_REQUEST") from exc


def _fault(error: msgspec.ValidationError, kind: Any) -> str:
    """What does not fit, and where."""
    reason, place = reason_and_place(error, kind)
    return f"{reason} - at `{place}`" if place else reason


def answer(endpoint: Endpoint, result: Any, names: dict[str, str]) -> Response:
    """The answer with a result; a download is named from digits of the path."""
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
