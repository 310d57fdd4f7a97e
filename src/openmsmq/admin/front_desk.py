"""The front desk of pages and endpoints: access control, and connections on behalf of users."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from openmsmq.aio import QueueManager
from openmsmq.client.errors import ConnectionLost
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError, MsmqError

from .care_desk import CareDesk
from .console import ANSWER_SECONDS, Console
from .figures import Figures
from .queue_info import QueueInfo
from .settings import ConsoleSettings
from .sight import Sight
from .trust.audit import AuditLog
from .trust.hosts import Hosts
from .trust.limits import RateLimit, Slots
from .trust.links import Links
from .trust.person import Person, Role
from .trust.problems import Problem
from .trust.sessions import Session, Sessions
from .trust.tokens import Tokens

T = TypeVar("T")

# The number of connections to the queue manager, one per principal; the longest unused is closed.
MOST_CONNECTIONS: Final = 64
# Refused sign-ins a minute that the audit log has: who guesses tokens cannot push out the rest.
NOTED_REFUSALS: Final = 10


class FrontDesk:
    """Tokens, sessions, links, limits, the audit log, and connections on behalf of users."""

    def __init__(self, console: Console) -> None:
        settings = console.settings
        folder = settings.folder
        self.console: Final = console
        self.figures: Final = Figures(console)
        self.sight: Final = Sight(self.figures)
        self.care: Final = CareDesk(console)
        self.tokens: Final = Tokens(settings.console_tokens or _token_file(folder))
        self.sessions: Final = Sessions(self.tokens)
        self.links: Final = Links(folder, tls=settings.console_certificate is not None)
        self.audit: Final = AuditLog(folder)
        self.hosts: Final = Hosts(settings.bound, settings.console_hosts)
        self.sign_ins: Final = RateLimit(settings.console_sign_ins, 60.0)
        self._refusals: Final = RateLimit(NOTED_REFUSALS, 60.0)
        self.requests: Final = RateLimit(settings.console_request_rate * 10, 10.0)
        self.streams: Final = Slots(settings.console_streams)
        self.searches: Final = Slots(settings.console_searches)
        self._managers: OrderedDict[str, QueueManager] = OrderedDict()
        self._connecting = asyncio.Lock()

    @property
    def settings(self) -> ConsoleSettings:
        """The current settings: a reload may change them."""
        return self.console.settings

    async def start(self) -> None:
        """Listen for requests for a link, and watch the queue manager."""
        await self.links.start()
        await self.figures.start()
        await self.care.start()

    async def stop(self) -> None:
        """Close all connections."""
        await self.care.stop()
        await self.links.stop()
        await self.figures.stop()
        for manager in self._managers.values():
            with suppress(MsmqError):
                await manager.close()
        self._managers.clear()

    async def manager_for(self, person: Person) -> QueueManager:
        """A connection on which the queue manager checks the rights of this person.

        Raises:
            ConnectionLost: the queue manager does not answer.
        """
        async with self._connecting:
            manager = self._managers.pop(person.principal, None)
            if manager is None:
                manager = await self._connect_for(person.principal)
            self._managers[person.principal] = manager
            if len(self._managers) > MOST_CONNECTIONS:
                _, oldest = self._managers.popitem(last=False)
                with suppress(MsmqError):
                    await oldest.close()
            return manager

    async def check_principal(self, principal: str) -> None:
        """Refuse a principal unknown to the queue manager.

        Raises:
            Problem: 422.
        """
        with suppress(ConnectionLost):
            await (await self._connect_for(principal)).close()

    async def _connect_for(self, principal: str) -> QueueManager:
        try:
            return await self.console.connect(act_for=principal, reconnect=True)
        except QueueError as exc:
            if exc.code != Hresult.MQ_ERROR_INVALID_PARAMETER:
                raise
            raise Problem(
                422,
                "The principal cannot be used: " + exc.detail.removeprefix("principal: "),
                cause="The token names somebody who is not known on the queue manager's machine.",
                remedy="Make a token for a principal that is: "
                "`openmsmq console token add --principal`.",
                name="PRINCIPAL_UNKNOWN",
            ) from exc

    async def answered(self, work: Awaitable[T]) -> T:
        """The result of work that waits for the queue manager, as long as it answers the sampler.

        Long work continues while samples arrive; it is abandoned when the queue manager hangs.

        Raises:
            ConnectionLost: the queue manager does not answer.
        """
        sampler = self.console.sampler
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=ANSWER_SECONDS))[0]:
                sampler.look()
                if sampler.fault:
                    raise ConnectionLost("the queue manager does not answer")
            return await task
        finally:
            task.cancel()

    def sign_in(self, person: Person) -> Session:
        """Begin a session."""
        now = time.monotonic()
        self.sessions.forget_idle(now)
        self.console.meters.sign_ins["accepted"] += 1
        self.audit.note("sign_in", person, "done")
        return self.sessions.begin(person, now)

    def refuse_sign_in(self, address: str) -> None:
        """Count a refused token or sign-in link."""
        self.console.meters.sign_ins["refused"] += 1
        if not self._refusals.take("", time.monotonic()):
            unknown = Person(principal="", role=Role.READER, address=address)
            self.audit.note("sign_in", unknown, "refused")

    def sign_out(self, session: Session) -> None:
        """End a session."""
        self.sessions.end(session.key)
        self.audit.note("sign_out", session.person, "done")


@dataclass(frozen=True, slots=True)
class Caller:
    """The person who asks for a page or an endpoint."""

    desk: FrontDesk
    person: Person
    session: Session | None = None

    def is_in(self) -> bool:
        """Whether the session or the token of the caller is still valid."""
        desk, session = self.desk, self.session
        try:
            if session is None:
                return desk.tokens.vouches_for(self.person, datetime.now(UTC))
            return desk.sessions.find(session.key, time.monotonic(), background=True) is session
        except ConfigError:
            # Unknown.
            return False

    async def manager(self) -> QueueManager:
        """The queue manager, with the rights of this person."""
        return await self.desk.manager_for(self.person)

    async def seen(self) -> list[QueueInfo]:
        """The queues that this person may see, with the newest counts."""
        return await self.desk.sight.infos(self)

    async def unseen(self, queues: Iterable[str]) -> list[str]:
        """Those of some queues, subqueues and journals that this person may not see."""
        hidden = await self.desk.sight.hidden(self)
        return [name for name in queues if name.partition(";")[0].casefold() in hidden]

    def need(self, role: Role, *, what: str = "This") -> None:
        """Refuse an action that the role does not include.

        Raises:
            Problem: 403, with the missing role and who can grant it.
        """
        if self.person.role < role:
            raise Problem(
                403,
                f"{what} needs the role {role.word}; yours is {self.person.role.word}.",
                cause="The token that you signed in with has a smaller role.",
                remedy="An administrator of the console can make another token: "
                "`openmsmq console token add`.",
                name="ROLE_TOO_SMALL",
            )

    def need_queue(self, queue: str) -> None:
        """Refuse a queue that is not in the token.

        Raises:
            Problem: 403.
        """
        if not self.person.may_use(queue):
            raise Problem(
                403,
                f"Your token does not include the queue {queue}.",
                cause="It is limited to " + ", ".join(self.person.queues) + ".",
                remedy="An administrator of the console can make another token: "
                "`openmsmq console token add`.",
                name="QUEUE_NOT_IN_TOKEN",
            )

    def need_every_queue(self) -> None:
        """Refuse functions of the whole queue manager to a token for some queues.

        Raises:
            Problem: 403.
        """
        if self.person.queues:
            raise Problem(
                403,
                "This is about the whole queue manager, and your token about some queues.",
                cause="It is limited to " + ", ".join(self.person.queues) + ".",
                remedy="An administrator of the console can make another token: "
                "`openmsmq console token add`.",
                name="QUEUE_NOT_IN_TOKEN",
            )

    def need_bodies(self) -> None:
        """Refuse bodies to readers whose token does not include them.

        Raises:
            Problem: 403.
        """
        if not self.person.sees_bodies:
            raise Problem(
                403,
                "Your token does not include bodies.",
                cause="Readers see bodies only with a token that says so.",
                remedy="An administrator of the console can make one: "
                "`openmsmq console token add --bodies`.",
                name="BODIES_NOT_IN_TOKEN",
            )


def _token_file(folder: Path | None) -> Path | None:
    return None if folder is None else folder / "tokens.json"
