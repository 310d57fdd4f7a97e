"""Users and groups in words."""

import pytest
from tests.security.accounts import FakeAccounts

from openmsmq.security.principals import describe_principal, parse_principal
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.security.sid import SID

ACCOUNTS = FakeAccounts()


@pytest.mark.parametrize(
    ("text", "sid"),
    [
        ("everyone", "S-1-1-0"),
        ("Everyone", "S-1-1-0"),
        ("anonymous", "S-1-5-7"),
        ("ANONYMOUS LOGON", "S-1-5-7"),
        ("authenticated users", "S-1-5-11"),
        ("administrators", "S-1-5-32-544"),
        ("user:alice", "S-1-22-1-1000"),
        ("uid:4711", "S-1-22-1-4711"),
        ("group:staff", "S-1-22-2-100"),
        ("GID:0", "S-1-22-2-0"),
        ("s-1-5-21-1-2-3-500", "S-1-5-21-1-2-3-500"),
        ("ada", "S-1-5-21-7-8-9-1000"),
        ("account:ADA", "S-1-5-21-7-8-9-1000"),
    ],
)
def test_words_name_a_principal(text: str, sid: str) -> None:
    assert str(parse_principal(text, ACCOUNTS)) == sid


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nobody", "is not everyone, anonymous"),
        ("", "is not everyone, anonymous"),
        ("host:alice", "is not everyone, anonymous"),
        ("user:carol", "this machine has no user 'carol'"),
        ("group:wheel", "this machine has no group 'wheel'"),
        ("uid:alice", "'alice' is not a number"),
        ("uid:-1", "'-1' is not a number"),
        ("gid:4294967295", "'4294967295' is not a number"),
        ("uid:²", "'²' is not a number"),
        ("S-1-5-x", "is not everyone, anonymous"),
        ("account:bob", "there is no account 'bob'"),
    ],
)
def test_words_that_mean_nobody_are_refused(text: str, reason: str) -> None:
    with pytest.raises(QueueError, match=reason) as caught:
        parse_principal(text, ACCOUNTS)
    assert caught.value.code == Hresult.MQ_ERROR_INVALID_PARAMETER


@pytest.mark.parametrize(
    ("sid", "text"),
    [
        ("S-1-1-0", "everyone"),
        ("S-1-5-7", "anonymous"),
        ("S-1-22-1-1000", "user:alice"),
        ("S-1-22-1-77", "uid:77"),
        ("S-1-22-2-100", "group:staff"),
        ("S-1-22-2-77", "gid:77"),
        ("S-1-5-21-1-2-3-500", "S-1-5-21-1-2-3-500"),
        ("S-1-5-21-7-8-9-1000", "account:Ada"),
    ],
)
def test_a_principal_is_described_in_words_that_are_understood(sid: str, text: str) -> None:
    assert describe_principal(SID.from_text(sid), ACCOUNTS) == text
    assert str(parse_principal(text, ACCOUNTS)) == sid
