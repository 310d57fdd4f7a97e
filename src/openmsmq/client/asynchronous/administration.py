"""What concerns a queue manager itself: its state, rights, outgoing queues and definitions."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from openmsmq.client.backend import Management
from openmsmq.client.message import correlation_bytes
from openmsmq.client.properties import Info
from openmsmq.wire.definitions.model import Definitions

from .driver import Driver


class Administration:
    """The calls of `QueueManager` that concern the queue manager itself."""

    _driver: Driver

    @property
    def _management(self) -> Management:
        return self._driver.backend.management

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
        """Open transactions: state, age, holder and messages in them."""
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

    async def compare_definitions(self, definitions: Definitions) -> list[Info]:
        """What differs from definitions; nothing is changed.

        A queue that would have to be replaced differs as well, whether it is empty or not.

        Returns:
            What would be changed; what is `unlisted` would stay, and `missing` is what a file
            cannot bring.

        Raises:
            QueueError: a definition is wrong or not allowed; its text begins with the place.
        """
        return await self._driver.call(self._management.compare_definitions, definitions)

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
