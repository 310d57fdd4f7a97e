"""The OpenAPI document, made from the table."""

from functools import cache
from typing import Any, Final

import msgspec

from openmsmq.admin.trust.problems import STATUS_TEXTS, ErrorRecord
from openmsmq.version import __version__

from .arranging import ListQuery
from .table import ENDPOINTS, PREFIX, Endpoint

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
# Of lists: which properties of each entry.
_FIELDS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (("fields", {"type": "string"}),)


class Failure(msgspec.Struct, frozen=True):
    """Why a request was refused."""

    error: ErrorRecord


@cache
def openapi_document() -> dict[str, Any]:
    """The document that `/api/v1/openapi.json` answers with."""
    types: list[type[msgspec.Struct]] = [Failure]
    for endpoint in ENDPOINTS:
        types += [
            kind
            for kind in (endpoint.body, endpoint.result)
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
        ]
    _, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
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


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.words,
        "description": f"Role: {endpoint.role.word}.",
        "tags": [endpoint.group],
        "parameters": [*_path_parameters(endpoint), *_query_parameters(endpoint)],
        "responses": {**_success(endpoint), **_failures()},
    }
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
        schema = {"$ref": f"#/components/schemas/{endpoint.body.__name__}"}
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
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
    return [
        {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "schema": kind,
        }
        for name, kind in (*schema["properties"].items(), *_FIELDS[: bool(endpoint.entries)])
    ]


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
    if not (isinstance(result, type) and issubclass(result, msgspec.Struct)):
        return {"type": "object"}
    whole = {"$ref": _REFERENCE.format(name=result.__name__)}
    return {"anyOf": [whole, _narrowed_schema(endpoint)]} if endpoint.entries else whole


def _narrowed_schema(endpoint: Endpoint) -> dict[str, Any]:
    """A list whose entries have only the properties that `fields` names."""
    _, components = msgspec.json.schema_components([endpoint.result], ref_template=_REFERENCE)
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
