"""The OpenAPI document, made from the table."""

import inspect
from functools import cache
from typing import Any, Final

import msgspec

from openmsmq.admin.trust.problems import STATUS_TEXTS, ErrorRecord
from openmsmq.version import __version__

from .arranging import ListQuery
from .endpoint import is_record
from .table import ENDPOINTS, PREFIX, Endpoint
from .watching import LAST_EVENT, EventsQuery

_ERRORS: Final = (400, 401, 403, 404, 409, 413, 421, 422, 429, 503)
_SEGMENTS: Final = {
    "queue": "Path name of a queue without the computer, percent-encoded as one segment, such as "
    "`private$%5Corders`.",
    "lookup_id": "Lookup id of a message.",
    "destination": "Destination of an outgoing queue, percent-encoded as one segment.",
    "job": "Number of a job.",
    "message": "Id of a message, `{guid}\\\\ordinal`.",
    "transaction": "Identifier of a transaction.",
    "token": "Name of a token.",
    "protocol": "Protocol of a session or client, such as `binary` or `local`.",
    "number": "Number of a session or client.",
}
_REFERENCE: Final = "#/components/schemas/{name}"
_BINARY: Final[dict[str, Any]] = {"type": "string", "format": "binary"}
_FIELDS: Final[dict[str, Any]] = {
    "name": "fields",
    "in": "query",
    "required": False,
    "description": "Only these properties of each entry, with commas between them.",
    "schema": {"type": "string"},
    "example": "id,label",
}

EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "create_queue": {"name": "private$\\orders", "transactional": True, "label": "Orders"},
    "change_queue": {"quota": 102400, "receive_error_handling": "move"},
    "grant": {"principal": "user:ann", "rights": ["receive", "peek"]},
    "send_message": {"body": "hello", "label": "first", "delivery": "recoverable"},
    "send_copy": {"to": "private$\\orders", "label": "again"},
    "move_messages": {"lookup_ids": ["288230376151711747"], "to": "private$\\orders;later"},
    "remove_messages": {"lookup_ids": ["288230376151711747"]},
    "begin_job": {
        "kind": "retry",
        "sources": ["system$;DEADLETTER"],
        "where": {"property": "label", "operator": "~", "value": "order"},
        "first": 10,
        "dry_run": True,
    },
    "resolve_transaction": {"outcome": "abort"},
    "add_token": {"name": "board", "principal": "user:ann", "queues": ["private$\\shop.*"]},
    "backup": {"file": "/var/backups/openmsmq.bak"},
}


class Failure(msgspec.Struct, frozen=True):
    """Why a request was refused."""

    error: ErrorRecord


@cache
def openapi_document() -> dict[str, Any]:
    """The document at `/api/v1/openapi.json`."""
    types: list[type] = [Failure]
    for endpoint in ENDPOINTS:
        types += [kind for kind in (endpoint.body, endpoint.result) if is_record(kind)]
    _, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    for schema in components.values():
        _describe(schema)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    paths["/openapi.json"] = {
        "get": {
            "operationId": "openapi",
            "summary": "This document.",
            "tags": ["Console"],
            "responses": {
                "200": {
                    "description": "The document",
                    "content": {"application/json": {"schema": {"type": "object"}}},
                },
                **_failures(),
            },
        }
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "openmsmq", "version": __version__},
        "servers": [{"url": PREFIX}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def words_of(text: str) -> tuple[str, dict[str, str]]:
    """The descriptions of a type and of its attributes in a docstring."""
    about, _, attributes = inspect.cleandoc(text).partition("\nAttributes:\n")
    words: dict[str, str] = {}
    names: list[str] = []
    for line in inspect.cleandoc(attributes).splitlines():
        if not line.startswith(" "):
            head, _, line = line.partition(": ")
            names = head.split(", ")
        for name in names:
            words[name] = f"{words.get(name, '')} {line.strip()}".strip()
    return about.strip(), {name: each[:1].upper() + each[1:] for name, each in words.items()}


def _describe(schema: dict[str, Any]) -> None:
    """Copy the descriptions of a type's attributes to the attributes."""
    schema["description"], words = words_of(schema.get("description", ""))
    for name, kind in schema.get("properties", {}).items():
        if kind.get("default") == ():
            # JSON has no tuples.
            schema["properties"][name] = {**kind, "default": []}
    for name, text in words.items():
        if name in schema["properties"]:
            # Copies: a reference may be used in many places.
            schema["properties"][name] = {**schema["properties"][name], "description": text}


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.words,
        "description": f"Role: {endpoint.role.word}.",
        "tags": [endpoint.group],
        "parameters": [*_path_parameters(endpoint), *_query_parameters(endpoint)],
        "responses": {**_success(endpoint), **_failures()},
    }
    if endpoint.query is EventsQuery:
        operation["parameters"].append(
            {
                "name": LAST_EVENT,
                "in": "header",
                "required": False,
                "description": "The id of the last event that came; it counts before `after`.",
                "schema": {"type": "string"},
            }
        )
    if endpoint.changes:
        operation["parameters"].append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "description": "A repeated request with the same key takes effect once.",
                "schema": {"type": "string", "maxLength": 200},
            }
        )
    if endpoint.body is bytes:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/octet-stream": {"schema": _BINARY}},
        }
    elif endpoint.body is not None:
        content: dict[str, Any] = {
            "schema": {"$ref": _REFERENCE.format(name=endpoint.body.__name__)}
        }
        if endpoint.name in EXAMPLES:
            content["example"] = EXAMPLES[endpoint.name]
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    return operation


def _path_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _SEGMENTS[name],
            "schema": {"type": "string", "minLength": 1},
        }
        for name in endpoint.names
    ]


def _query_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    query = ListQuery if endpoint.arranged else endpoint.query
    if query is None:
        return []
    schema = msgspec.json.schema_components([query])[1][query.__name__]
    words: dict[str, str] = {}
    for kind in reversed(query.__mro__):
        words |= words_of(kind.__doc__ or "")[1]
    parameters = [
        {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "description": words[name],
            "schema": kind,
        }
        for name, kind in schema["properties"].items()
    ]
    return [*parameters, _FIELDS] if endpoint.entries else parameters


def _success(endpoint: Endpoint) -> dict[str, Any]:
    if endpoint.result is None:
        return {"204": {"description": "Done"}}
    if endpoint.stream:
        content = {endpoint.stream: {"schema": {"type": "string"}}}
    elif endpoint.result is bytes:
        content = {"application/octet-stream": {"schema": _BINARY}}
    else:
        content = {"application/json": {"schema": _result_schema(endpoint)}}
    status = "201" if endpoint.name == "create_queue" else "200"
    return {status: {"description": "Done", "content": content}}


def _result_schema(endpoint: Endpoint) -> dict[str, Any]:
    result = endpoint.result
    if not is_record(result):
        return {"type": "object"}
    whole = {"$ref": _REFERENCE.format(name=result.__name__)}
    return {"anyOf": [whole, _narrowed_schema(endpoint)]} if endpoint.entries else whole


def _narrowed_schema(endpoint: Endpoint) -> dict[str, Any]:
    """A list whose entries have only the properties named in `fields`."""
    _, components = msgspec.json.schema_components([endpoint.result], ref_template=_REFERENCE)
    for each in components.values():
        _describe(each)
    schema = dict(components[endpoint.result.__name__])
    entries = schema["properties"][endpoint.entries]
    kind = components.get(entries["items"].get("$ref", "").rpartition("/")[2])
    if kind is not None:
        some = {"type": "object", "properties": kind["properties"], "additionalProperties": False}
        narrowed = {**entries, "items": some}
        schema["properties"] = {**schema["properties"], endpoint.entries: narrowed}
    schema["title"] += ", with fields"
    return schema


def _failures() -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Failure"}
    return {
        str(status): {
            "description": STATUS_TEXTS[status],
            "content": {"application/json": {"schema": schema}},
        }
        for status in (*_ERRORS, 405)
    }
