"""The asynchronous client: `connect()` and the queue manager that it returns."""

import contextlib
from collections.abc import AsyncGenerator, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Final, Self, Unpack

import msgspec

from openmsmq.client.address import find_address
from openmsmq.client.arguments import message_of, seconds
from openmsmq.client.backend import Identity, Management
from openmsmq.client.logic.manager import ManagerLogic, reply_to
from openmsmq.client.logic.ranges import ProducerLogic
from openmsmq.client.logic.transaction import transaction_number
from openmsmq.client.machines import other_machine
from openmsmq.client.message import Message, correlation_bytes
from openmsmq.client.properties import Access, Info, QueueProperties, Share
from openmsmq.client.received_message import ReceivedMessage
from openmsmq.client.remote.address import Logon
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.definitions.model import Definitions
from openmsmq.wire.errors import MsmqError

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
        token: says who you are over TCP; without one, what is in the file $OPENMSMQ_TOKEN_FILE.
        ca_file: certificates to trust over TCP instead of the system's, or of those in
            $OPENMSMQ_CA_FILE.
        user, password: who reads over RPC, for `msmq://` and for queues of other machines; without
            them, $OPENMSMQ_RPC_USER and what is in the file $OPENMSMQ_RPC_PASSWORD_FILE; without
            these, too, the user's Kerberos ticket, or Anonymous Logon without one.
        auth: over RPC: `kerberos`, `ntlm`, or `none` for Anonymous Logon.
        level: over RPC: `connect`, `packet`, `integrity` or `privacy`, the default.
        rebind: over RPC: ask the server for its port and connect again to that, as old servers
            want it.
        timeout: seconds or a timedelta to wait for an answer of somebody who listens there.
        wait: seconds or a timedelta to wait for the queue manager to start, if it does not listen
            there yet; None for ever.
        reconnect: when the queue manager is lost, calls that wait for messages wait for it to come
            back and go on, and other calls try to connect once. A call that was under way and does
            not only read raises `ConnectionLost`, because it may have taken effect.
        act_for: the principal whose rights count on this connection, such as `user:ada`; only an
            administrator of the queue manager may name one.

    Raises:
        ConnectionLost: no queue manager answers there, or not yet; the text says what to do.
        ConfigError: the arguments do not fit together.
    """
    logon = Logon(user, password, auth, level, rebind)
    found = find_address(address, token=token, ca_file=ca_file, logon=logon)
    limit, patience = seconds("timeout", timeout), seconds("wait", wait)

    async def make() -> QueueManager:
        driver = Driver(found, timeout=limit, reconnect=reconnect, act_for=act_for or "")
        await driver.open_first(patience)
        return QueueManager(driver, OtherMachines(logon, timeout=limit, reconnect=reconnect))

    return Pending("connect", make)


class QueueManager:
    """A connection to a queue manager. Close it, or use it in an `async with` statement.

    Tasks of one event loop may share it. Its calls raise `QueueError` for what the queue manager
    refuses and `ConnectionLost` when the connection is lost.
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
        """Name, GUID and version of the queue manager, and who it takes this client for."""
        return self._driver.backend.identity

    @property
    def _management(self) -> Management:
        return self._driver.backend.management

    @property
    def address(self) -> str:
        """Where the queue manager is: a socket path or `host:port`."""
        return str(self._driver.address)

    async def flush(self) -> None:
        """Wait until every message sent so far is accepted and every receive is final.

        Raises:
            QueueError: something was refused.
        """
        await self._driver.call(self._driver.backend.flush)
        await self._others.flush()

    async def close(self) -> None:
        """Wait until everything sent is accepted, and hang up.

        Raises:
            QueueError: a message that was sent was refused.
            ConnectionLost: messages may not have arrived, and no call has said so yet.
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
            exist_ok: take the queue if there is one already that has these properties.
            properties: see `QueueProperties`.

        Raises:
            QueueError: MQ_ERROR_QUEUE_EXISTS, it exists, or with `exist_ok` exists with other
                properties, which the text names; or the caller may not.
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
            access: what for; "receive" can also peek.
            share: "deny_receive" keeps other readers out.
        """
        host = other_machine(name, self.identity.names) if access in OVER_RPC else None

        async def make() -> Queue:
            if host is not None:
                return Queue(*await self._others.open_queue(host, name, access, share))
            logic = await self._driver.call(self._logic.open_queue, name, access, share)
            return Queue(self._driver, logic)

        return Pending("open_queue", make)

    async def queue_exists(self, path: str) -> bool:
        """Whether there is a queue with a path name on this queue manager.

        Raises:
            QueueError: the name is none, or the caller may not see it.
        """
        try:
            await self.queue_info(path)
        except QueueError as exc:
            if exc.code != Hresult.MQ_ERROR_QUEUE_NOT_FOUND:
                raise
            return False
        return True

    async def delete_queue(self, path: str) -> None:
        """Delete a queue with everything in it."""
        await self._driver.call(self._management.delete_queue, path)

    async def set_queue(self, path: str, **properties: Unpack[QueueProperties]) -> None:
        """Change properties of a queue."""
        await self._driver.call(self._management.set_queue, path, {**properties})

    async def queue_info(self, path: str) -> Info:
        """Properties, counts and permissions of one queue."""
        return await self._driver.call(self._management.queue_info, path)

    async def queues(self, *, include_system: bool = False) -> list[Info]:
        """Properties and counts of all queues that the caller may see."""
        return await self._driver.call(
            self._management.queue_infos(include_system=include_system).whole
        )

    async def iter_queues(self, *, include_system: bool = False) -> AsyncGenerator[Info, None]:
        """The same queues one by one while they come, in the order of their creation."""
        parts = self._management.queue_infos(include_system=include_system)
        try:
            while (part := await self._driver.call(parts.next_part)) is not None:
                for queue in part:
                    yield queue
        finally:
            with self._driver.lock:
                parts.close()

    async def grant(
        self, path: str, principal: str, rights: Iterable[str], *, deny: bool = False
    ) -> list[Info]:
        """Let a principal do something with a queue, or forbid it; return what is in force.

        Args:
            principal: `user:NAME`, `group:NAME`, `everyone`, `anonymous` or a SID.
            rights: such as "receive", "peek", "send", "full".
            deny: forbid it, whatever else allows it.
        """
        return await self._driver.call(
            self._management.grant, path, principal, rights, deny=deny, revoke=False
        )

    async def revoke(self, path: str, principal: str, rights: Iterable[str]) -> list[Info]:
        """Take rights away that were granted or denied before; return what is in force."""
        return await self._driver.call(
            self._management.grant, path, principal, rights, deny=False, revoke=True
        )

    # The queue manager itself

    async def status(self) -> Info:
        """State, identity, endpoints and totals of the queue manager."""
        return await self._driver.call(self._management.status)

    async def registered_certificates(self) -> list[Info]:
        """The certificates that the directory has of this user."""
        return await self._driver.call(self._management.certificates)

    async def register_certificate(self, certificate: bytes) -> list[Info]:
        """Add a certificate of this user to the directory, so that its signatures are accepted.

        Args:
            certificate: DER.

        Returns:
            All certificates that the directory has of this user.
        """
        return await self._driver.call(self._management.certificates, add=certificate)

    async def unregister_certificate(self, digest: bytes) -> list[Info]:
        """Take a certificate of this user out of the directory; return those that are left.

        Args:
            digest: the MD5 of the certificate.
        """
        return await self._driver.call(self._management.certificates, remove=digest)

    async def machine_rights(self) -> list[Info]:
        """Who may do what with the queue manager itself."""
        return await self._driver.call(self._management.machine_rights)

    async def grant_machine(
        self, principal: str, rights: Iterable[str], *, deny: bool = False
    ) -> list[Info]:
        """Let a principal do something with the queue manager itself, or forbid it.

        Args:
            principal: `user:NAME`, `group:NAME`, `everyone`, `anonymous` or a SID.
            rights: such as "create-queue", "peek-deadletter", "set-properties", "full".
            deny: forbid it, whatever else allows it.

        Returns:
            What is in force now.
        """
        return await self._driver.call(
            self._management.grant_machine, principal, rights, deny=deny, revoke=False
        )

    async def revoke_machine(self, principal: str, rights: Iterable[str]) -> list[Info]:
        """Take rights away that were granted or denied before; return what is in force."""
        return await self._driver.call(
            self._management.grant_machine, principal, rights, deny=False, revoke=True
        )

    async def explain_access(self, path: str, principal: str) -> list[Info]:
        """What a principal may do with a queue, right by right, and why.

        Args:
            path: of the queue; empty for the queue manager itself.
            principal: `user:NAME`, `group:NAME`, `account:NAME`, `everyone` or a SID; groups of a
                user count.

        Returns:
            For each right `right`, `allowed` and `reason`.

        Raises:
            QueueError: no such queue or principal, or `get-permissions` is missing.
        """
        return await self._driver.call(self._management.explain_access, path, principal)

    async def take_offline(self) -> None:
        """Stop talking to other queue managers, until `bring_online` or a restart.

        What is sent to them waits here; local queues work as before.
        """
        await self._driver.call(self._management.set_online, online=False)

    async def bring_online(self) -> None:
        """Talk to other queue managers again."""
        await self._driver.call(self._management.set_online, online=True)

    async def sessions(self) -> list[Info]:
        """Sessions with other queue managers."""
        return await self._driver.call(self._management.session_infos().whole)

    async def clients(self) -> list[Info]:
        """Clients of the queue manager, your own or all, with what they hold."""
        return await self._driver.call(self._management.client_infos().whole)

    async def transactions(self) -> list[Info]:
        """Open transactions: state, age and messages in them."""
        return await self._driver.call(self._management.transaction_infos().whole)

    async def resolve_transaction(
        self, identifier: str, *, commit: bool, dry_run: bool = False
    ) -> None:
        """End a transaction in doubt by hand; what its coordinator decided may be the opposite.

        Args:
            identifier: as `transactions` has it.
            commit: let everything in it take effect here, or else nothing.
            dry_run: only make the checks.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, it is not in doubt.
        """
        await self._driver.call(
            self._management.resolve_transaction, identifier, commit=commit, dry_run=dry_run
        )

    async def sample(self, since: int = 0) -> list[Info]:
        """Counts of everything in packed columns; of queues only what changed.

        Args:
            since: `number` of the first part of an earlier sample over this connection; 0 for
                everything.

        Raises:
            AccessDenied: you are not an administrator of the queue manager.
        """
        return await self._driver.call(self._management.sample(since).whole)

    async def reload(self) -> Info:
        """Let the queue manager read tokens, certificates, quotas and its log level again.

        Returns:
            `reloaded`, the keys, and `failed`, the reasons by key.

        Raises:
            AccessDenied: you are not an administrator of the queue manager.
        """
        return await self._driver.call(self._management.reload)

    async def hang_up(self, protocol: str, number: int) -> None:
        """End a session with another queue manager, or a client, as `sessions` and `clients` list.

        What a client holds goes back in place; a session that is needed is opened again.

        Raises:
            QueueError: there is none, or you are not an administrator of the queue manager.
        """
        await self._driver.call(self._management.hang_up, protocol, number)

    async def readers(self, path: str) -> list[Info]:
        """Who has a queue open, what they have locked, and which of their reads wait."""
        return await self._driver.call(self._management.reader_infos(path).whole)

    async def events(self, after: int = -1) -> Info:
        """What happened after an event: at once, or as soon as something happens.

        Args:
            after: `last` of the answer before; -1 begins with the oldest that is known.

        Returns:
            `events`, each with number, time, kind, queue, detail and count; `last`; `left_out`,
            how many events are not known any more.

        Raises:
            AccessDenied: you are not an administrator of the queue manager.
        """
        return await self._driver.call(self._management.events, after)

    async def outgoing(self) -> list[Info]:
        """Outgoing queues: destination, state, what waits and why."""
        return await self._driver.call(self._management.outgoing_infos().whole)

    async def pause_outgoing(self, destination: str) -> Info:
        """Keep an outgoing queue from sending."""
        return await self._driver.call(self._management.hold_outgoing, destination, pause=True)

    async def resume_outgoing(self, destination: str) -> Info:
        """Let a paused outgoing queue send again."""
        return await self._driver.call(self._management.hold_outgoing, destination, pause=False)

    async def outgoing_info(self, destination: str) -> Info:
        """One outgoing queue: its state, how many messages wait, and why."""
        return await self._driver.call(self._management.outgoing_info, destination)

    async def route(self, destination: str) -> Info:
        """The way that a message to a destination would take, and why; nothing is sent."""
        return await self._driver.call(self._management.route, destination)

    async def delete_outgoing(self, destination: str) -> None:
        """Forget an outgoing queue that is empty.

        Raises:
            QueueError: MQ_ERROR_ILLEGAL_OPERATION if it holds messages.
        """
        await self._driver.call(self._management.delete_outgoing, destination)

    async def redirections(self) -> list[Info]:
        """Where messages over HTTP go instead: kind, URL, and the URL that is used."""
        return await self._driver.call(self._management.redirections)

    async def add_redirection(self, kind: str, url: str, to: str = "") -> Info:
        """Redirect messages over HTTP, or receipts of their streams.

        Args:
            kind: `inbound`, `outbound`, `exception` (to outbound), `receipts` or `forward`.
            url: of the queue that is named; a `*` at its end stands for any rest.
            to: the URL that is used instead; empty for `exception` and `forward`.

        Raises:
            QueueError: MQ_ERROR_INVALID_PARAMETER.
        """
        return await self._driver.call(self._management.add_redirection, kind, url, to)

    async def remove_redirection(self, kind: str, url: str) -> None:
        """Redirect something no longer.

        Raises:
            QueueError: MQ_ERROR_INVALID_PARAMETER if it is not redirected.
        """
        await self._driver.call(self._management.remove_redirection, kind, url)

    async def export_definitions(self) -> Definitions:
        """Queues with their permissions, rights of the queue manager, paused outgoing queues and
        redirections; `openmsmq.wire.definitions` writes them as TOML or JSON.

        Raises:
            AccessDenied: you may not see all of it.
        """
        plain = await self._driver.call(self._management.export_definitions)
        return msgspec.convert(plain, Definitions)

    async def apply_definitions(
        self,
        definitions: Definitions,
        *,
        dry_run: bool = False,
        prune: bool = False,
        force: bool = False,
        recreate: bool = False,
    ) -> list[Info]:
        """Make things as definitions say, all of it at once or nothing.

        Args:
            definitions: see `openmsmq.wire.definitions.read_definitions`.
            dry_run: make every check and change nothing.
            prune: delete queues that are not listed and hold no message.
            force: with `prune`, delete those that hold messages, too.
            recreate: replace an empty queue where what differs cannot be changed.

        Returns:
            What is changed, or would be; what is `unlisted` stays, and `missing` is what a file
            cannot bring.

        Raises:
            QueueError: a definition is wrong or not allowed; its text begins with the place.
        """
        return await self._driver.call(
            self._management.apply_definitions,
            definitions,
            dry_run=dry_run,
            prune=prune,
            force=force,
            recreate=recreate,
        )

    async def machine_keys(self) -> list[Info]:
        """The keys that the queue manager decrypts with: current and replaced ones."""
        keys: list[Info] = await self._driver.call(self._management.machine_keys, "list")
        return keys

    async def rotate_machine_keys(self) -> list[Info]:
        """Give the queue manager new keys and publish them; older ones decrypt for a while.

        Returns:
            All keys that decrypt.
        """
        keys: list[Info] = await self._driver.call(self._management.machine_keys, "rotate")
        return keys

    async def export_machine_keys(self) -> Info:
        """The public keys of the queue manager, to be imported by others."""
        keys: Info = await self._driver.call(self._management.machine_keys, "export")
        return keys

    async def import_machine_keys(self, guid: str, name: str, keys: bytes) -> Info:
        """Let this queue manager's directory know the public keys of another one.

        Args:
            guid: of the other queue manager.
            name: of its computer.
            keys: as `export_machine_keys` has them there.

        Raises:
            QueueError: there is no directory, or these are no keys.
        """
        return await self._driver.call(self._management.import_machine_keys, guid, name, keys)

    async def message_history(self, message_id: str) -> Info:
        """What happened to a message (`{guid}\\ordinal`), as far as the queue manager has noted it.

        Returns:
            `kept`: whether a history is kept; `since`: the time of its oldest record, or None;
            `events`: `time`, `event`, `place` and `reason` of each, the oldest first.

        Raises:
            QueueError: the caller may not see dead letters.
            ValueError: it is no id.
        """
        identifier = correlation_bytes(message_id)
        return await self._driver.call(self._management.trace, identifier)

    async def backup(self, file: str | Path) -> Info:
        """Copy the store to a file on the queue manager's machine while it runs."""
        return await self._driver.call(self._management.backup, str(file))

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
        queue = Queue(self._driver, self._driver.target(self._logic, destination))
        await queue.send(message, transaction, delay=delay, deliver_at=deliver_at)

    async def delayed(self, queue: str = "") -> list[Info]:
        """The messages that wait for their time, of one queue or of all; see `Queue.send`.

        Args:
            queue: its path name or format name; those for other machines wait here, too.
        """
        return await self._driver.call(self._management.delayed_infos(queue).whole)

    async def deliver_delayed(self, queue: str, lookup_ids: Sequence[int] | None = None) -> int:
        """Let delayed messages appear now; return how many.

        Args:
            lookup_ids: as `delayed` shows them; None for all of the queue.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND, one is not there; then none appears.
        """
        return await self._driver.call(self._management.decide, queue, "deliver", lookup_ids)

    async def cancel_delayed(self, queue: str, lookup_ids: Sequence[int] | None = None) -> int:
        """Never deliver delayed messages; return how many. See `deliver_delayed`."""
        return await self._driver.call(self._management.decide, queue, "cancel", lookup_ids)

    async def release_held(self, queue: str, lookup_ids: Sequence[int] | None = None) -> int:
        """Let readers have poison messages again that a queue holds; return how many.

        Args:
            lookup_ids: of some of them; None for all.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND, one is not held; then none is released.
        """
        return await self._driver.call(self._management.decide, queue, "release", lookup_ids)

    async def request(
        self,
        destination: str,
        message: Message | str | bytes,
        *,
        timeout: float | timedelta | None = None,
        response_queue: str | None = None,
        transaction: str | None = None,
    ) -> ReceivedMessage:
        """Send a message and wait for the answer to it.

        The answer is the message in the response queue whose correlation id is the id of this one.

        Args:
            timeout: seconds or a timedelta to wait for the answer; None for ever.
            response_queue: a queue for answers that exists; without one the connection makes its
                own, which is deleted when it is closed.
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
        """Answer a message: to its response queue, with its id as the correlation id.

        Raises:
            ValueError: it names no response queue.
        """
        destination, answer = reply_to(request, message_of(message))
        await self.send(destination, answer, transaction)

    def producer(self, name: str) -> Producer:
        """Publish batches under a name, each of them whole and once."""
        return Producer(self._driver, ProducerLogic(self._driver.backend, name))
