"""Management over the local protocol: one request for each function."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from openmsmq.client.arguments import several
from openmsmq.client.operations import Operation
from openmsmq.client.properties import Info
from openmsmq.protocol.local import messages as local
from openmsmq.wire.definitions.model import Definitions

from .caller import Caller
from .part_stream import PartStream


class LocalManagement:
    """`client.backend.Management` over the local protocol."""

    def __init__(self, backend: Caller) -> None:
        self._backend: Final = backend

    def create_queue(self, path: str, properties: Info) -> Operation[None]:
        return self._backend.call(local.CreateQueue, path, properties)

    def delete_queue(self, path: str) -> Operation[None]:
        return self._backend.call(local.DeleteQueue, path)

    def set_queue(self, path: str, properties: Info) -> Operation[None]:
        return self._backend.call(local.SetQueue, path, properties)

    def queue_info(self, path: str) -> Operation[Info]:
        return self._backend.call(local.ShowQueue, path)

    def queue_infos(self, *, include_system: bool) -> PartStream:
        return PartStream(self._backend, local.ListQueues, include_system)

    def grant(
        self, path: str, principal: str, rights: Iterable[str], *, deny: bool, revoke: bool
    ) -> Operation[list[Info]]:
        several("rights", rights, "words")
        return self._backend.call(local.Grant, path, principal, list(rights), deny, revoke)

    def status(self) -> Operation[Info]:
        return self._backend.call(local.GetStatus)

    def sample(self, since: int) -> PartStream:
        return PartStream(self._backend, local.Sample, since)

    def reload(self) -> Operation[Info]:
        return self._backend.call(local.Reload)

    def hang_up(self, protocol: str, number: int) -> Operation[None]:
        return self._backend.call(local.HangUp, protocol, number)

    def reader_infos(self, path: str) -> PartStream:
        return PartStream(self._backend, local.ListReaders, path)

    def events(self, after: int) -> Operation[Info]:
        return self._backend.call(local.Watch, after)

    def outgoing_infos(self) -> PartStream:
        return PartStream(self._backend, local.ListOutgoing)

    def session_infos(self) -> PartStream:
        return PartStream(self._backend, local.ListSessions)

    def client_infos(self) -> PartStream:
        return PartStream(self._backend, local.ListClients)

    def transaction_infos(self) -> PartStream:
        return PartStream(self._backend, local.ListTransactions)

    def resolve_transaction(
        self, identifier: str, *, commit: bool, dry_run: bool
    ) -> Operation[None]:
        return self._backend.call(local.ResolveTransaction, identifier, commit, dry_run)

    def certificates(self, *, add: bytes = b"", remove: bytes = b"") -> Operation[list[Info]]:
        return self._backend.call(local.UserCertificates, add, remove)

    def machine_rights(self) -> Operation[list[Info]]:
        return self._backend.call(local.MachineRights)

    def grant_machine(
        self, principal: str, rights: Iterable[str], *, deny: bool, revoke: bool
    ) -> Operation[list[Info]]:
        several("rights", rights, "words")
        return self._backend.call(local.GrantMachine, principal, list(rights), deny, revoke)

    def explain_access(self, path: str, principal: str) -> Operation[list[Info]]:
        return self._backend.call(local.ExplainAccess, path, principal)

    def set_online(self, *, online: bool) -> Operation[None]:
        return self._backend.call(local.SetOnline, online)

    def hold_outgoing(self, destination: str, *, pause: bool) -> Operation[Info]:
        return self._backend.call(local.HoldOutgoing, destination, pause)

    def outgoing_info(self, destination: str) -> Operation[Info]:
        return self._backend.call(local.ShowOutgoing, destination)

    def route(self, destination: str) -> Operation[Info]:
        return self._backend.call(local.ExplainRoute, destination)

    def delete_outgoing(self, destination: str) -> Operation[None]:
        return self._backend.call(local.DeleteOutgoing, destination)

    def redirections(self) -> Operation[list[Info]]:
        return self._backend.call(local.ListRedirections)

    def add_redirection(self, kind: str, url: str, to: str) -> Operation[Info]:
        return self._backend.call(local.ChangeRedirection, kind, url, to, False)

    def remove_redirection(self, kind: str, url: str) -> Operation[None]:
        return self._backend.call(local.ChangeRedirection, kind, url, "", True)

    def export_definitions(self) -> Operation[Info]:
        return self._backend.call(local.ExportDefinitions)

    def apply_definitions(
        self,
        definitions: Definitions,
        *,
        dry_run: bool,
        prune: bool,
        force: bool,
        recreate: bool,
    ) -> Operation[list[Info]]:
        return self._backend.call(
            local.ApplyDefinitions, definitions, dry_run, prune, force, recreate, False
        )

    def compare_definitions(self, definitions: Definitions) -> Operation[list[Info]]:
        return self._backend.call(
            local.ApplyDefinitions, definitions, True, False, False, True, True
        )

    def delayed_infos(self, queue: str) -> PartStream:
        return PartStream(self._backend, local.ListDelayed, queue)

    def decide(self, queue: str, action: str, lookup_ids: Sequence[int] | None) -> Operation[int]:
        several("lookup_ids", lookup_ids, "lookup ids")
        ids = None if lookup_ids is None else list(lookup_ids)
        return self._backend.call(local.DecideSetAside, queue, action, ids)

    def machine_keys(self, action: str) -> Operation[Any]:
        return self._backend.call(local.MachineKeys, action)

    def import_machine_keys(self, guid: str, name: str, keys: bytes) -> Operation[Info]:
        return self._backend.call(local.ImportMachineKeys, guid, name, keys)

    def trace(self, identifier: bytes) -> Operation[Info]:
        return self._backend.call(local.TraceMessage, identifier)

    def backup(self, file: str) -> Operation[Info]:
        return self._backend.call(local.Backup, file)
