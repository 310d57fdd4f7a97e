"""Sessions of browsers: a cookie, a CSRF token, an end."""

import hmac
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from .person import Person
from .tokens import Tokens

IDLE_SECONDS: Final = 30 * 60
LONGEST_SECONDS: Final = 12 * 3600
# Above this number, the session that was idle for longest ends.
MOST_SESSIONS: Final = 10_000


@dataclass(slots=True)
class Session:
    """One signed-in browser."""

    key: str
    person: Person
    csrf: str
    began: float
    used: float

    def matches(self, token: str) -> bool:
        """Whether a request has the CSRF token of this session."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self.csrf.encode())


class Sessions:
    """All sessions; a restart of the console ends them.

    `now` is monotonic time in seconds.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._sessions: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, person: Person, now: float) -> Session:
        """Sign somebody in."""
        if len(self._sessions) >= MOST_SESSIONS:
            self.end(min(self._sessions.values(), key=lambda session: session.used).key)
        session = Session(secrets.token_urlsafe(32), person, secrets.token_urlsafe(32), now, now)
        self._sessions[session.key] = session
        return session

    def find(self, key: str, now: float, *, background: bool = False) -> Session | None:
        """The session of a cookie, unless it has ended or its token has changed.

        Args:
            background: a live update, which does not keep an idle session alive.

        Raises:
            ConfigError: the file of tokens cannot be read.
        """
        session = self._sessions.get(key)
        if session is None:
            return None
        if _too_old(session, now) or not self._vouched(session):
            self.end(key)
            return None
        if not background:
            session.used = now
        return session

    def end(self, key: str) -> None:
        """Sign out."""
        self._sessions.pop(key, None)

    def forget_idle(self, now: float) -> None:
        """Drop the sessions that have ended."""
        for session in list(self._sessions.values()):
            if _too_old(session, now):
                self.end(session.key)

    def _vouched(self, session: Session) -> bool:
        """Whether the token of a session is still valid; a link was valid once."""
        person = session.person
        return not person.sha256 or self._tokens.vouches_for(person, datetime.now(UTC))


def _too_old(session: Session, now: float) -> bool:
    return now - session.used > IDLE_SECONDS or now - session.began > LONGEST_SECONDS
