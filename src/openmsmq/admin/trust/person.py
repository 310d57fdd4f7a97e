"""The person who asks: a principal, a role, and restrictions of the role."""

from enum import IntEnum
from fnmatch import fnmatchcase
from typing import Final

import msgspec


class Role(IntEnum):
    """The rights of a person at the console; each role includes those before it."""

    READER = 1
    OPERATOR = 2
    ADMINISTRATOR = 3

    @property
    def word(self) -> str:
        """Its name in files, answers and pages."""
        return self.name.lower()


ROLES: Final = {role.word: role for role in Role}


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """A signed-in user, or the holder of a token.

    Attributes:
        principal: the principal whose rights count at the queue manager, such as `user:ann`.
        role: the upper limit of the rights at the console.
        bodies: whether a reader sees bodies; other roles always do.
        queues: patterns of path names without the computer; empty means every queue.
        credential: the name of the token, or `link`.
        sha256: the digest of the token; empty for a link.
        address: the source address of the request.
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
        """Whether a queue is among those of the token.

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
