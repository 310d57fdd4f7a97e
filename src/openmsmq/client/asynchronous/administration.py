"""Calls for the queue manager itself: its state, rights, outgoing queues and definitions."""

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
        """Return state, identity, endpoints and totals of the queue manager."""
        return await self._driver.call(self._management.status)

    async def registered_certificates(self) -> list[Info]:
        """Return the certificates of this user in the directory."""
        return await self._driver.call(self._management.certificates)

    async def register_certificate(self, certificate: bytes) -> list[Info]:
        """Add a certificate of this user to the directory, so that its signatures are accepted.

        Args:
            certificate: DER.

        Returns:
            All certificates of this user in the directory.
        """
        return await self._driver.call(self._management.certificates, add=certificate)

    async def unregister_certificate(self, digest: bytes) -> list[Info]:
        """Remove a certificate of this user from the directory; return the remaining ones.

        Args:
            digest: the MD5 of the certificate.
        """
        return await self._driver.call(self._management.certificates, remove=digest)

    async def machine_rights(self) -> list[Info]:
        """Return the permissions of the queue manager itself."""
        return await self._driver.call(self._management.machine_rights)

    async def grant_machine(
        self, principal: str, rights: Iterable[str], *, deny: bool = False
    ) -> list[Info]:
        """Grant or deny rights on the queue manager itself to a principal.

        Args:
            principal: `user:NAME`, `group:NAME`, `everyone`, `anonymous` or a SID.
            rights: such as "create-queue", "peek-deadletter", "set-properties", "full".
            deny: deny the rights, even if another entry allows them.

        Returns:
            The permissions in force.
        """
        return await self._driver.call(
            self._management.grant_machine, principal, rights, deny=deny, revoke=False
        )

    async def revoke_machine(self, principal: str, rights: Iterable[str]) -> list[Info]:
        """Remove rights that were granted or denied; return the permissions in force."""
        return await self._driver.call(
            self._management.grant_machine, principal, rights, deny=False, revoke=True
        )

    async def explain_access(self, path: str, principal: str) -> list[Info]:
        """Explain each right of a principal on a queue.

        Args:
            path: of the queue; empty for the queue manager itself.
            principal: `user:NAME`, `group:NAME`, `account:NAME`, `everyone` or a SID; groups of a
                user are included.

        Returns:
            For each right `right`, `allowed` and `reason`.

        Raises:
            QueueError: no such queue or principal, or `get-permissions` is missing.
        """
        return await self._driver.call(self._management.explain_access, path, principal)

    async def take_offline(self) -> None:
        """Stop all traffic with other queue managers, until `bring_online` or a restart.

        Messages to them wait here; local queues work as before.
        """
        await self._driver.call(self._management.set_online, online=False)

    async def bring_online(self) -> None:
        """Resume the traffic with other queue managers."""
        await self._driver.call(self._management.set_online, online=True)

    async def sessions(self) -> list[Info]:
        """Return the sessions with other queue managers."""
        return await self._driver.call(self._management.session_infos().whole)

    async def clients(self) -> list[Info]:
        """Return the clients of the queue manager, your own or all, with what they hold."""
        return await self._driver.call(self._management.client_infos().whole)

    async def transactions(self) -> list[Info]:
        """Return open transactions: state, age, holder and messages in them."""
        return await self._driver.call(self._management.transaction_infos().whole)

    async def resolve_transaction(
        self, identifier: str, *, commit: bool, dry_run: bool = False
    ) -> None:
        """End a transaction in doubt by hand; its coordinator may have decided otherwise.

        Args:
            identifier: from `transactions`.
            commit: commit it here, else abort it.
            dry_run: make the checks and change nothing.

        Raises:
            QueueError: MQ_ERROR_TRANSACTION_SEQUENCE, it is not in doubt.
        """
        await self._driver.call(
            self._management.resolve_transaction, identifier, commit=commit, dry_run=dry_run
        )

    async def sample(self, since: int = 0) -> list[Info]:
        """Return all counts in packed columns; of queues only the changes.

        Args:
            since: `number` of the first part of an earlier sample over this connection; 0 for
                everything.

        Raises:
            AccessDenied: you are not an administrator of the queue manager.
        """
        return await self._driver.call(self._management.sample(since).whole)

    async def reload(self) -> Info:
        """Make the queue manager reload tokens, certificates, quotas and its log level.

        Returns:
            `reloaded`, the keys, and `failed`, the reasons by key.

        Raises:
            AccessDenied: you are not an administrator of the queue manager.
        """
        return await self._driver.call(self._management.reload)

    async def hang_up(self, protocol: str, number: int) -> None:
        """End a session with another queue manager, or a client, listed by `sessions` or `clients`.

        Locked messages of a client go back to their place; a session that is needed is opened
        again.

        Raises:
            QueueError: it does not exist, or you are not an administrator of the queue manager.
        """
        await self._driver.call(self._management.hang_up, protocol, number)

    async def readers(self, path: str) -> list[Info]:
        """Return the readers of a queue, their locked messages and waiting reads."""
        return await self._driver.call(self._management.reader_infos(path).whole)

    async def events(self, after: int = -1) -> Info:
        """Return the events after an event: at once, or as soon as there is one.

        Args:
            after: `last` of the previous answer; -1 begins with the oldest event.

        Returns:
            `events`, each with number, time, kind, queue, detail and count; `last`; `left_out`,
            the number of events that are no longer kept.

        Raises:
            AccessDenied: you are not an administrator of the queue manager.
        """
        return await self._driver.call(self._management.events, after)

    async def outgoing(self) -> list[Info]:
        """Return the outgoing queues: destination, state, waiting messages and the reason."""
        return await self._driver.call(self._management.outgoing_infos().whole)

    async def pause_outgoing(self, destination: str) -> Info:
        """Pause an outgoing queue."""
        return await self._driver.call(self._management.hold_outgoing, destination, pause=True)

    async def resume_outgoing(self, destination: str) -> Info:
        """Resume a paused outgoing queue."""
        return await self._driver.call(self._management.hold_outgoing, destination, pause=False)

    async def outgoing_info(self, destination: str) -> Info:
        """Return one outgoing queue: its state, the number of waiting messages, and the reason."""
        return await self._driver.call(self._management.outgoing_info, destination)

    async def route(self, destination: str) -> Info:
        """Explain the route of a message to a destination, without sending one."""
        return await self._driver.call(self._management.route, destination)

    async def delete_outgoing(self, destination: str) -> None:
        """Delete an empty outgoing queue.

        Raises:
            QueueError: MQ_ERROR_ILLEGAL_OPERATION if it holds messages.
        """
        await self._driver.call(self._management.delete_outgoing, destination)

    async def redirections(self) -> list[Info]:
        """Return the redirections of messages over HTTP: kind, URL, and the URL to use instead."""
        return await self._driver.call(self._management.redirections)

    async def add_redirection(self, kind: str, url: str, to: str = "") -> Info:
        """Redirect messages over HTTP, or their stream receipts.

        Args:
            kind: `inbound`, `outbound`, `exception` (to outbound), `receipts` or `forward`.
            url: of the queue; a `*` at its end stands for any text.
            to: the URL to use instead; empty for `exception` and `forward`.

        Raises:
            QueueError: MQ_ERROR_INVALID_PARAMETER.
        """
        return await self._driver.call(self._management.add_redirection, kind, url, to)

    async def remove_redirection(self, kind: str, url: str) -> None:
        """Remove a redirection.

        Raises:
            QueueError: MQ_ERROR_INVALID_PARAMETER if there is no such redirection.
        """
        await self._driver.call(self._management.remove_redirection, kind, url)

    async def export_definitions(self) -> Definitions:
        """Return queues and their permissions, those of the queue manager, paused outgoing queues
        and redirections; `openmsmq.wire.definitions` writes them as TOML or JSON.

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
        """Apply definitions: make all changes, or none.

        Args:
            definitions: see `openmsmq.wire.definitions.read_definitions`.
            dry_run: make every check and change nothing.
            prune: delete empty queues that are not listed.
            force: with `prune`, also delete queues with messages.
            recreate: replace an empty queue if the difference cannot be changed.

        Returns:
            The changes that are made, or would be made; `unlisted` queues stay, and `missing`
            objects cannot be created from a file.

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
        """Return the differences from definitions, without changing anything.

        A queue that would have to be replaced differs, even if it is not empty.

        Returns:
            The changes that would be made; `unlisted` queues would stay, and `missing` objects
            cannot be created from a file.

        Raises:
            QueueError: a definition is wrong or not allowed; its text begins with the place.
        """
        return await self._driver.call(self._management.compare_definitions, definitions)

    async def machine_keys(self) -> list[Info]:
        """Return the keys with which the queue manager decrypts: current and replaced ones."""
        keys: list[Info] = await self._driver.call(self._management.machine_keys, "list")
        return keys

    async def rotate_machine_keys(self) -> list[Info]:
        """Create and publish new keys of the queue manager; older ones decrypt for a while.

        Returns:
            All keys that decrypt.
        """
        keys: list[Info] = await self._driver.call(self._management.machine_keys, "rotate")
        return keys

    async def export_machine_keys(self) -> Info:
        """Return the public keys of the queue manager, to be imported by others."""
        keys: Info = await self._driver.call(self._management.machine_keys, "export")
        return keys

    async def import_machine_keys(self, guid: str, name: str, keys: bytes) -> Info:
        """Add the public keys of another queue manager to the directory of this one.

        Args:
            guid: of the other queue manager.
            name: of its computer.
            keys: from `export_machine_keys` there.

        Raises:
            QueueError: there is no directory, or the keys are invalid.
        """
        return await self._driver.call(self._management.import_machine_keys, guid, name, keys)

    async def message_history(self, message_id: str) -> Info:
        """Return the recorded events of a message (`{guid}\\ordinal`).

        Returns:
            `kept`: whether a history is kept; `since`: the time of its oldest record, or None;
            `events`: `time`, `event`, `place` and `reason` of each, the oldest first.

        Raises:
            QueueError: the caller may not see dead letters.
            ValueError: the id is invalid.
        """
        identifier = correlation_bytes(message_id)
        return await self._driver.call(self._management.trace, identifier)

    async def backup(self, file: str | Path) -> Info:
        """Copy the store of the running queue manager to a file on its machine."""
        return await self._driver.call(self._management.backup, str(file))

    async def delayed(self, queue: str = "") -> list[Info]:
        """Return the delayed messages of one queue or of all; see `Queue.send`.

        Args:
            queue: path name or format name of the destination; may be on another machine.
        """
        return await self._driver.call(self._management.delayed_infos(queue).whole)

    async def deliver_delayed(self, queue: str, lookup_ids: Sequence[int] | None = None) -> int:
        """Deliver delayed messages now; return their count.

        Args:
            lookup_ids: from `delayed`; None for all of the queue.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND, one does not exist; then none is delivered.
        """
        return await self._driver.call(self._management.decide, queue, "deliver", lookup_ids)

    async def cancel_delayed(self, queue: str, lookup_ids: Sequence[int] | None = None) -> int:
        """Remove delayed messages without delivering them; return their count.

        The arguments are those of `deliver_delayed`.
        """
        return await self._driver.call(self._management.decide, queue, "cancel", lookup_ids)

    async def release_held(self, queue: str, lookup_ids: Sequence[int] | None = None) -> int:
        """Release poison messages that a queue holds to its readers; return their count.

        Args:
            lookup_ids: which messages; None for all.

        Raises:
            QueueError: MQ_ERROR_MESSAGE_NOT_FOUND, one is not held; then none is released.
        """
        return await self._driver.call(self._management.decide, queue, "release", lookup_ids)
