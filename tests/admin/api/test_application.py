"""Requests and answers of the HTTP API."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has none
from starlette.requests import Request

from openmsmq.admin.api.application import narrowed, read_body, read_query
from openmsmq.admin.api.arranging import ListQuery, arranged
from openmsmq.admin.api.dead_letters import DeadLetterQuery
from openmsmq.admin.api.document import openapi_document
from openmsmq.admin.api.jobs import JobToBegin
from openmsmq.admin.api.machine import Redirection, RedirectionList
from openmsmq.admin.api.manager import AuditQuery, Records, TokenList, TokenRecord
from openmsmq.admin.api.queues import Permission, Permissions
from openmsmq.admin.api.watching import ReaderList, ReaderRecord
from openmsmq.admin.trust.problems import Problem

TOKEN = TokenRecord(
    name="ann", principal="user:ann", role="reader", bodies=False, queues=[], ends=None
)
TOKENS = TokenList([])


def test_lists_have_the_fields_that_were_asked_for() -> None:
    content = narrowed(TokenList([TOKEN, TOKEN]), "role,name")
    assert content["tokens"] == [{"name": "ann", "role": "reader"}] * 2
    assert narrowed(TOKENS, "name")["tokens"] == []


def test_lists_of_records_without_a_type_have_the_fields_that_were_asked_for() -> None:
    records = Records([{"id": 1, "state": "open"}, {"id": 2, "state": "open", "holder": "x"}])
    assert narrowed(records, "id,holder")["entries"] == [{"id": 1}, {"id": 2, "holder": "x"}]
    with pytest.raises(Problem, match="no field 'age'") as refused:
        narrowed(records, "age")
    assert refused.value.record.remedy == "Use some of id, state, holder."
    assert narrowed(Records([]), "age")["entries"] == []


def test_the_document_has_lists_with_and_without_fields() -> None:
    document = openapi_document()
    content = document["paths"]["/tokens"]["get"]["responses"]["200"]["content"]
    validator = Draft202012Validator(
        {**content["application/json"]["schema"], "components": document["components"]}
    )
    assert validator.is_valid({"tokens": [msgspec.to_builtins(TOKEN)]})
    assert validator.is_valid({"tokens": [{"name": "ann"}, {}]})
    assert not validator.is_valid({"tokens": [{"name": 1}]})
    assert not validator.is_valid({"tokens": [{"nothing_like_it": "ann"}]})


@pytest.mark.parametrize(
    ("result", "fields", "text"),
    [
        (TOKENS, "nothing_like_it", "There is no field 'nothing_like_it'"),
        (AuditQuery(), "limit", "goes with lists only"),
        ({"plain": 1}, "plain", "goes with lists only"),
        (None, "x", "goes with lists only"),
    ],
)
def test_fields_that_there_are_not_are_refused(result: object, fields: str, text: str) -> None:
    with pytest.raises(Problem, match=text) as refused:
        narrowed(result, fields)
    assert refused.value.status == 400


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda: read_body(b'{"kind": "shred"}', JobToBegin), "move, copy, retry, "),
        (
            lambda: read_query(
                Request({"type": "http", "query_string": b"by=x", "headers": []}), DeadLetterQuery
            ),
            "reason, destination, label, age",
        ),
    ],
)
def test_a_refused_word_comes_with_those_that_are_taken(
    read: Callable[[], object], words: str
) -> None:
    with pytest.raises(Problem, match=f"must be one of {words}") as refused:
        read()
    assert refused.value.status == 400


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"kind": 5}', b'{"colour": 1}'])
def test_a_body_that_does_not_fit_is_refused(content: bytes) -> None:
    with pytest.raises(Problem, match="cannot be read: "):
        read_body(content, JobToBegin)


@pytest.mark.parametrize(
    ("result", "field"),
    [
        (Records([{"protocol": each, "id": 1} for each in ("binary", "local", "rpc")]), "entries"),
        (
            Permissions(
                [Permission("user:ann", "S-1-7", allow, []) for allow in (False, True)]
                + [Permission("user:bob", "S-1-8", True, [])]
            ),
            "permissions",
        ),
        (
            RedirectionList([Redirection(kind=each, url="http://x/") for each in ("inbound", "b")]),
            "redirections",
        ),
        (
            ReaderList(
                [
                    ReaderRecord(
                        handle=handle,
                        access="peek",
                        exclusive=False,
                        principal="user:ann",
                        sid="S-1-7",
                        cursors=0,
                        locked_messages=0,
                        waiting_reads=0,
                    )
                    for handle in (1, 2, 3)
                ]
            ),
            "readers",
        ),
    ],
)
def test_a_list_is_continued_through_entries_that_have_much_in_common(
    result: Any, field: str
) -> None:
    found: list[Any] = []
    after: str | None = ""
    for _ in getattr(result, field):
        part = arranged(result, field, ListQuery(limit=1, after=after))
        found += getattr(part, field)
        after = part.after
    assert (found, after) == (getattr(result, field), None)
