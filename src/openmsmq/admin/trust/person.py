"""Who asks: a principal, a role, and what the role is narrowed to."""

from enum import IntEnum
from fnmatch import fnmatchcase
from typing import Final

import msgspec


class Role(IntEnum):
    """What a person may do at the console; each role includes those before it."""

    READER = 1
    OPERATOR = 2
    ADMINISTRATOR = 3

    @property
    def word(self) -> str:
        """Its name in files, answers and pages."""
        return self.name.lower()


ROLES: Final = {role.word: role for role in Role}


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who is signed in, or the holder of a token.

    Attributes:
        principal: whom the queue manager is asked for, such as `user:ann`.
        role: what the console lets through at most.
        bodies: whether a reader sees bodies; other roles always do.
        queues: patterns of path names without the computer; empty means every queue.
        credential: the name of the token, or `link`.
        sha256: the digest of the token; empty for a link.
        address: where the request came from.
    """

    principal: str
    role: Role
    bodies: bool = False
    queues: tuple[str, ...] = ()
    credential: str = ""
    sha256: str = ""
    address: str = ""

    @property
    def sees_bodies(self) -> bool:
        """Whether bodies are shown."""
        return self.bodies or self.role > Role.READER

    def may_use(self, queue: str) -> bool:
        """Whether a queue is among those that the token names.

        Args:
            queue: its path name without the computer; subqueues and journals belong to it.
        """
        if not self.queues:
            return True
        if "=" in queue or "," in queue:
            # Format names, and several names at once, could mean another queue.
            return False
        name = queue.split(";", 1)[0].casefold()
        if name == "system$":
            name = queue.casefold()
        return any(fnmatchcase(name, pattern.casefold()) for pattern in self.queues)

    @property
    def initials(self) -> str:
        """Two letters for the corner of a page."""
        name = self.principal.rpartition(":")[2] or "?"
        return name[:2].upper()
