"""Tokens of clients that come over the network."""

import hashlib
import os
import pwd
from pathlib import Path

import pytest

from openmsmq.service.accounts import caller_of
from openmsmq.service.tokens import Tokens
from openmsmq.wire.errors import ConfigError
from openmsmq.wire.security.sid import AUTHENTICATED_USERS, BUILTIN_ADMINISTRATORS, SID


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def token_file(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "tokens.toml"
    file.write_text(text)
    return file


def test_a_token_stands_for_a_user_with_its_groups(tmp_path: Path) -> None:
    user = pwd.getpwuid(os.geteuid())
    file = token_file(tmp_path, f'"{digest("secret").upper()}" = "user:{user.pw_name}"')
    tokens = Tokens(file)
    assert tokens
    caller = tokens.authenticate("secret")
    assert caller == caller_of(user.pw_uid, user.pw_gid)
    assert tokens.authenticate("secret ") is None
    assert tokens.authenticate("") is None


def test_a_token_stands_for_somebody_from_outside(tmp_path: Path) -> None:
    sid = "S-1-5-21-1-2-3-1000"
    tokens = Tokens(token_file(tmp_path, f'"{digest("a")}" = "{sid}"'))
    caller = tokens.authenticate("a")
    assert caller is not None
    assert caller.sid == SID.from_text(sid)
    assert AUTHENTICATED_USERS in caller.groups
    assert not caller.is_local_admin
    assert BUILTIN_ADMINISTRATORS not in caller.groups


def test_without_a_file_there_are_no_tokens() -> None:
    tokens = Tokens(None)
    assert not tokens
    assert tokens.authenticate("") is None


@pytest.mark.parametrize(
    "text",
    [
        "no toml",
        '"abc" = "user:root"',
        f'"{"g" * 64}" = "user:root"',
        f'"{digest("x")}" = "user:no such user"',
        f'"{digest("x")}" = 5',
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"local_tokens: .*tokens\.toml"):
        Tokens(token_file(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"local_tokens: .*none"):
        Tokens(tmp_path / "none")
