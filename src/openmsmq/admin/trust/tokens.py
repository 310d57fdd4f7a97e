"""The file of tokens: digests, principals, roles."""

import hashlib
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal

import msgspec

from openmsmq.wire.errors import ConfigError

from .person import ROLES, Person

RoleWord = Literal["reader", "operator", "administrator"]
# The prefix by which logs and files show that a text is a token of a console.
PREFIX: Final = "omq_"


class Token(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the file; the token itself is not stored.

    Attributes:
        name: its name for users.
        sha256: hexadecimal digest of the token.
        principal: the principal whose rights count at the queue manager.
        role: the upper limit of its rights.
        bodies: whether a reader sees bodies.
        queues: patterns of path names without the computer; empty means every queue.
        ends: the time from which it is refused.
    """

    name: str
    sha256: str
    principal: str
    role: RoleWord
    bodies: bool = False
    queues: tuple[str, ...] = ()
    ends: datetime | None = None

    def __post_init__(self) -> None:
        if len(self.sha256) != 64 or not set(self.sha256) <= set("0123456789abcdef"):
            raise ValueError("sha256 must have 64 hexadecimal digits in lower case")
        if self.ends is not None and self.ends.tzinfo is None:
            raise ValueError("ends must name its offset from UTC")

    def person(self, address: str) -> Person:
        """The holder."""
        return Person(
            principal=self.principal,
            role=ROLES[self.role],
            bodies=self.bodies,
            queues=self.queues,
            credential=self.name,
            sha256=self.sha256,
            address=address,
        )


class TokensNotRead(ConfigError):
    """The file of tokens cannot be read, so callers cannot be identified."""


class _TokenFile(msgspec.Struct, forbid_unknown_fields=True):
    tokens: list[Token] = []


class Tokens:
    """The tokens of a file, read again whenever it changes."""

    def __init__(self, path: Path | None) -> None:
        self.path: Final = path
        self._stamp: tuple[int, int] | None = None
        self._by_digest: dict[str, Token] = {}
        self.generation = 0

    def all(self) -> list[Token]:
        """Every entry, in the order of the file.

        Raises:
            TokensNotRead: the file cannot be read or is invalid.
        """
        self._refresh()
        return list(self._by_digest.values())

    def find(self, token: str, utc: datetime) -> Token | None:
        """The entry of a valid token."""
        self._refresh()
        return self._entry(digest_of(token), utc)

    def vouches_for(self, person: Person, utc: datetime) -> bool:
        """Whether the token of a person still exists, unchanged and valid."""
        self._refresh()
        entry = self._entry(person.sha256, utc)
        return entry is not None and entry.person(person.address) == person

    def add(self, entry: Token) -> None:
        """Add an entry.

        Raises:
            ConfigError: its name is taken or invalid, or the file cannot be written.
        """
        # Its path in the API is made from the name, for its removal.
        if not any(character.isalnum() for character in entry.name):
            raise ConfigError("the name of a token needs a letter or a digit")
        entries = self.all()
        if any(other.name == entry.name for other in entries):
            raise ConfigError(f"there is a token named {entry.name!r} already")
        self._write([*entries, entry])

    def remove(self, name: str) -> bool:
        """Remove an entry; return whether it existed."""
        entries = self.all()
        kept = [entry for entry in entries if entry.name != name]
        if len(kept) == len(entries):
            return False
        self._write(kept)
        return True

    def _entry(self, sha256: str, utc: datetime) -> Token | None:
        entry = self._by_digest.get(sha256)
        return None if entry is None or (entry.ends is not None and entry.ends <= utc) else entry

    def _refresh(self) -> None:
        """Read the file if it has changed."""
        if self.path is None:
            return
        try:
            state = self.path.stat()
        except FileNotFoundError:
            if self._stamp is not None:
                self._stamp, self._by_digest = None, {}
                self.generation += 1
            return
        except OSError as exc:
            raise TokensNotRead(f"console_tokens: {exc}") from exc
        stamp = (state.st_mtime_ns, state.st_ino)
        if stamp == self._stamp:
            return
        try:
            content = msgspec.json.decode(self.path.read_bytes(), type=_TokenFile)
        except (OSError, msgspec.MsgspecError) as exc:
            raise TokensNotRead(f"console_tokens {self.path}: {exc}") from exc
        self._by_digest = {entry.sha256: entry for entry in content.tokens}
        self._stamp = stamp
        self.generation += 1

    def _write(self, entries: list[Token]) -> None:
        if self.path is None:
            raise ConfigError("console_tokens names no file")
        text = msgspec.json.format(msgspec.json.encode(_TokenFile(entries)), indent=1)
        beside = self.path.with_name(self.path.name + ".new")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            with os.fdopen(os.open(beside, flags, 0o600), "wb") as file:
                file.write(text + b"\n")
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)
        except OSError as exc:
            raise ConfigError(f"console_tokens: {exc}") from exc


def digest_of(token: str) -> str:
    """The digest of a token, as in the file."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def new_token() -> str:
    """An unguessable token."""
    return PREFIX + secrets.token_urlsafe(32)


def parse_end(text: str) -> datetime:
    """The end of a token from ISO 8601; without an offset it is UTC."""
    value = datetime.fromisoformat(text)
    return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
