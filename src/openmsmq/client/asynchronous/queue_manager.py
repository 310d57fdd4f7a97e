"""The asynchronous client: `connect()` and the queue manager that it returns."""

import contextlib
from collections.abc import AsyncGenerator, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self, Unpack

from openmsmq.client.address import find_address
from openmsmq.client.arguments import message_of, seconds
from openmsmq.client.backend import Identity
from openmsmq.client.logic.manager import ManagerLogic, reply_to
from openmsmq.client.logic.ranges import ProducerLogic
from openmsmq.client.logic.transaction import transaction_number
from openmsmq.client.machines import other_machine
from openmsmq.client.message import Message
from openmsmq.client.properties import Access, Info, QueueProperties, Share
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.client.remote.address import Logon
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import ConfigError, MsmqError

from .administration import Administration
from .driver import Driver
from .other_machines import OtherMachines
from .pending import Pending
from .queue import Queue
from .ranges import Producer
from .transaction import Transaction

# How queues of other machines can be opened.
OVER_RPC: Final = ("receive", "peek", "move")


def connect(
    address: str | Path | None = None,
    *,
    token: str | None = None,
    ca_file: str | Path | None = None,
    user: str | None = None,
    password: str | None = None,
    auth: str | None = None,
    level: str | None = None,
    rebind: bool = False,
    timeout: float | timedelta | None = 10.0,
    wait: float | timedelta | None = 0.0,
    reconnect: bool = False,
    act_for: str | None = None,
) -> "Pending[QueueManager]":
    """Connect to a queue manager: await it, or use it in an `async with` statement.

    Args:
        address: path of its Unix socket, or `host:port` for TLS, or `msmq://host[:port]` to read
            queues of any MSMQ server over RPC; without one, $OPENMSMQ_SOCKET, else the socket in
            the default data directory.
        token: your token over TCP; without one, the contents of the file $OPENMSMQ_TOKEN_FILE.
        ca_file: certificates to trust over TCP instead of the system's, or of those in
            $OPENMSMQ_CA_FILE.
        user, password: logon over RPC, for `msmq://` and for queues of other machines; else
            $OPENMSMQ_RPC_USER and the contents of the file $OPENMSMQ_RPC_PASSWORD_FILE; else the
            Kerberos ticket of the user, else Anonymous Logon.
        auth: over RPC: `kerberos`, `ntlm`, or `none` for Anonymous Logon.
        level: over RPC: `connect`, `packet`, `integrity` or `privacy`, the default.
        rebind: over RPC: ask the server for its port and connect to that, as old servers require.
        timeout: seconds or a timedelta to wait for an answer of the listening peer; None for ever.
        wait: seconds or a timedelta to wait for the queue manager to start, if it does not listen
            yet; None for ever.
        reconnect: after a lost connection, calls that wait for messages wait until the queue
            manager is back and continue, and other calls try to connect once. A call in progress
            that does not only read raises `ConnectionLost`, because it may have taken effect.
        act_for: the principal whose rights apply on this connection, such as `user:ada`; only for
            administrators of the queue manager.

    Raises:
        ConnectionLost: no queue manager answers, or not yet; the text has the remedy.
        ConfigError: the arguments contradict each other.
    """
    logon = Logon(user, password, auth, level, rebind)
    server_address = find_address(address, token=token, ca_file=ca_file, logon=logon)
    limit, patience = seconds("timeout", timeout), seconds("wait", wait)
    if act_for == "":
        raise ConfigError("act_for: an empty text is not a principal")

    async def make() -> QueueManager:
        driver = Driver(server_address, timeout=limit, reconnect=reconnect, act_for=act_for or "")
        await driver.open_first(patience)
        return QueueManager(driver, OtherMachines(logon, timeout=limit, reconnect=reconnect))

    return Pending("connect", make)


class QueueManager(Administration):
    """A connection to a queue manager. Close it, or use it in an `async with` statement.

    Tasks of one event loop may share it. Its calls raise `QueueError` if the queue manager
    refuses a request, and `ConnectionLost` if the connection is lost.
    """

    def __init__(self, driver: Driver, others: OtherMachines) -> None:
        self._driver = driver
        self._others = others
        self._logic = ManagerLogic(driver.backend)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # An error of the block is told before one of closing.
        with contextlib.suppress(*((MsmqError,) if kind is not None else ())):
            await self.close()

    def __repr__(self) -> str:
        return f"QueueManager({self.identity.name!r} at {self.address!r})"

    @property
    def identity(self) -> Identity:
        """Name, GUID and version of the queue manager, and the principal of this client."""
        return self._driver.backend.identity

    @property
    def address(self) -> str:
        """Address of the queue manager: a socket path or `host:port`."""
        return str(self._driver.address)

    async def flush(self) -> None:
        """Wait until all sent messages are accepted and all receives are final.

        Raises:
            QueueError: a request was refused.
        """
        await self._driver.call(self._driver.backend.flush)
        await self._others.flush()

    async def close(self) -> None:
        """Wait until all sent messages are accepted, and close the connection.

        Raises:
            QueueError: a message that was sent was refused.
            ConnectionLost: messages may not have arrived, and no call has reported it yet.
        """
        try:
            if self._driver.usable:
                await self._driver.call(self._logic.close)
            else:
                self._driver.backend.tell_loss()
        finally:
            try:
                await self._others.close()
            finally:
                await self._driver.close()

    # Queues

    def create_queue(
        self, path: str, *, exist_ok: bool = False, **properties: Unpack[QueueProperties]
    ) -> Pending[Queue]:
        r"""Create a queue such as `.\private$\orders`.

        Args:
            path: its path name.
            exist_ok: accept an existing queue that has these properties.
            properties: see `QueueProperties`.

        Raises:
            QueueError: MQ_ERROR_QUEUE_EXISTS, it exists, or with `exist_ok` exists with other
                properties, which the text names; or the caller lacks the right.
        """

        async def make() -> Queue:
            logic = await self._driver.call(
                self._logic.create_queue, path, {**properties}, exist_ok=exist_ok
            )
            return Queue(self._driver, logic)

        return Pending("create_queue", make)

    def open_queue(
        self, name: str, access: Access = "receive", share: Share = "deny_none"
    ) -> Pending[Queue]:
        """Open a queue by path name or format name.

        A queue of another machine is read over RPC, as the user that `connect` was given.

        Args:
            access: "receive" also permits peeking.
            share: "deny_receive" excludes other readers.
        """
        host = other_machine(name, self.identity.names) if access in OVER_RPC else None

        async def make() -> Queue:
            if host is not None:
                return Queue(*await self._others.open_queue(host, name, access, share))
            logic = await self._driver.call(self._logic.open_queue, name, access, share)
            return Queue(self._driver, logic)

        return Pending("open_queue", make)

    async def queue_exists(self, path: str) -> bool:
        """Whether this queue manager has a queue with a path name.

        Raises:
            QueueError: the name is invalid, or the caller may not see the queue.
        """
        try:
            await self.queue_info(path)
        except QueueError as exc:
            if exc.code != Hresult.MQ_ERROR_QUEUE_NOT_FOUND:
                raise
            return False
        return True

    async def delete_queue(self, path: str) -> None:
        """Delete a queue with all its messages."""
        await self._driver.call(self._management.delete_queue, path)

    async def set_queue(self, path: str, **properties: Unpack[QueueProperties]) -> None:
        """Change properties of a queue."""
        await self._driver.call(self._management.set_queue, path, {**properties})

    async def queue_info(self, path: str) -> Info:
        """Return properties, counts and permissions of a queue."""
        return await self._driver.call(self._management.queue_info, path)

    async def queues(self, *, include_system: bool = False) -> list[Info]:
        """Return properties and counts of all queues that the caller may see."""
        return await self._driver.call(
            self._management.queue_infos(include_system=include_system).whole
        )

    async def iter_queues(self, *, include_system: bool = False) -> AsyncGenerator[Info, None]:
        """Yield the same queues as they arrive, in the order of their creation."""
        parts = self._management.queue_infos(include_system=include_system)
        try:
            while (part := await self._driver.call(parts.next_part)) is not None:
                for queue in part:
                    yield queue
        finally:
            self._driver.step(parts.close)

    async def grant(
        self, path: str, principal: str, rights: Iterable[str], *, deny: bool = False
    ) -> list[Info]:
        """Grant or deny rights on a queue to a principal; return the permissions in force.

        Args:
            principal: `user:NAME`, `group:NAME`, `everyone`, `anonymous` or a SID.
            rights: such as "receive", "peek", "send", "full".
            deny: deny the rights, even if another entry allows them.
        """
        return await self._driver.call(
            self._management.grant, path, principal, rights, deny=deny, revoke=False
        )

    async def revoke(self, path: str, principal: str, rights: Iterable[str]) -> list[Info]:
        """Remove rights that were granted or denied; return the permissions in force."""
        return await self._driver.call(
            self._management.grant, path, principal, rights, deny=False, revoke=True
        )

    # Messages

    def transaction(self) -> Pending[Transaction]:
        """Begin a transaction: an `async with` block commits it, an exception in it aborts it."""

        async def make() -> Transaction:
            return Transaction(self._driver, await self._driver.call(self._logic.begin))

        return Pending("transaction", make)

    async def send(
        self,
        destination: str,
        message: Message | str | bytes,
        transaction: Transaction | str | None = None,
        *,
        delay: float | timedelta | None = None,
        deliver_at: float | datetime | None = None,
    ) -> None:
        """Send one message to a queue by path name or format name; see `Queue.send`."""
        target = self._logic.known_target(destination)
        if target is None:
            target = self._driver.target(self._logic, destination)
        queue = Queue(self._driver, target)
        await queue.send(message, transaction, delay=delay, deliver_at=deliver_at)

    async def request(
        self,
        destination: str,
        message: Message | str | bytes,
        *,
        timeout: float | timedelta | None = None,
        response_queue: str | None = None,
        transaction: str | None = None,
    ) -> ReceivedMessage:
        """Send a message and wait for its answer.

        The answer is the message in the response queue whose correlation id is the id of this one.

        Args:
            timeout: seconds or a timedelta to wait for the answer; None for ever.
            response_queue: an existing queue for answers; without one the connection creates its
                own, which is deleted when the connection is closed.
            transaction: "single" if the destination is transactional.

        Raises:
            ReceiveTimeout: no answer came in that time.
        """
        return await self._driver.call(
            self._logic.request,
            seconds("timeout", timeout),
            destination,
            message_of(message),
            response_queue,
            transaction_number(transaction, self._driver.backend),
        )

    async def reply(
        self,
        request: ReceivedMessage,
        message: Message | str | bytes,
        transaction: Transaction | str | None = None,
    ) -> None:
        """Answer a message: send to its response queue, with its id as the correlation id.

        Raises:
            ValueError: the message has no response queue.
        """
        destination, answer = reply_to(request, message_of(message))
        await self.send(destination, answer, transaction)

    def producer(self, name: str) -> Producer:
        """Return a producer, which publishes each batch under this name completely and once."""
        return Producer(self._driver, ProducerLogic(self._driver.backend, name))
