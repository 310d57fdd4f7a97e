"""Requests and answers of the HTTP API."""

import pytest

from openmsmq.admin.api.application import narrowed
from openmsmq.admin.api.manager import AuditQuery, TokenList, TokenRecord
from openmsmq.admin.trust.problems import Problem

TOKENS = TokenList([])


def test_lists_have_the_fields_that_were_asked_for() -> None:
    names = TokenRecord.__struct_fields__
    record = TokenRecord(**dict.fromkeys(names, "x"))  # type: ignore[arg-type]  # any value will do
    content = narrowed(TokenList([record, record]), f"{names[1]},{names[0]}")
    assert content["tokens"] == [{names[0]: "x", names[1]: "x"}] * 2
    assert narrowed(TOKENS, names[0])["tokens"] == []


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
