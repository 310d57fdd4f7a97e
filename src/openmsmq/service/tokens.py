"""Tokens of clients that connect over the network, and their callers."""

import hashlib
import hmac
import tomllib
from pathlib import Path
from typing import Final

from openmsmq.security.caller import UNIX_USER, Caller, sender_caller, unix_id
from openmsmq.security.principals import parse_principal
from openmsmq.wire.errors import ConfigError, MsmqError
from openmsmq.wire.security.sid import SID

from .accounts import UnixAccounts, caller_of_user

DIGEST_LENGTH: Final = 64


class Tokens:
    """Callers by the SHA-256 of the text of their token.

    Args:
        file: a TOML file of `"<SHA-256 of the token in hex>" = "user:NAME"`; without one no token
            is known.

    Raises:
        ConfigError: the file cannot be used; the text names the entry.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._callers: dict[str, Caller] = {}
        self.reload()

    def reload(self) -> None:
        """Read the file again; connected clients stay connected.

        Raises:
            ConfigError: the file cannot be used; the known tokens stay.
        """
        if self._file is not None:
            self._callers = read_tokens(self._file)

    def __bool__(self) -> bool:
        return bool(self._callers)

    def authenticate(self, token: str) -> Caller | None:
        """The caller of a token; takes equally long for all tokens."""
        digest = hashlib.sha256(token.encode()).hexdigest()
        owner = None
        for known, caller in self._callers.items():
            if hmac.compare_digest(known, digest):
                owner = caller
        return owner


def read_tokens(file: Path) -> dict[str, Caller]:
    """The callers in a file of tokens.

    Raises:
        ConfigError: the file cannot be used; the text names the entry.
    """
    callers: dict[str, Caller] = {}
    try:
        for digest, principal in tomllib.loads(file.read_text(encoding="utf-8")).items():
            if len(digest) != DIGEST_LENGTH or set(digest.lower()) - set("0123456789abcdef"):
                raise ConfigError(f"{digest!r} is not a SHA-256 in hex")
            callers[digest.lower()] = caller_of_sid(parse_principal(str(principal), UnixAccounts()))
    except OSError as exc:
        raise ConfigError(f"local_tokens: {file}: {exc.strerror or exc}") from exc
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, MsmqError) as exc:
        raise ConfigError(f"local_tokens: {file}: {exc}") from exc
    return callers


def caller_of_sid(sid: SID) -> Caller:
    """The caller of a SID: a user of this machine with its groups, or an external user.

    The token identifies the caller, but does not make it an administrator of the queue manager.
    """
    number = unix_id(sid)
    if number is not None and number[0] == UNIX_USER:
        return caller_of_user(number[1])
    return sender_caller(sid)
