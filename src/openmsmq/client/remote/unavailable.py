"""What only a queue manager can do: each operation is refused with the reason."""

from collections.abc import Iterable, Sequence
from typing import Final, NoReturn

from openmsmq.client.backend import not_available
from openmsmq.client.properties import Info
from openmsmq.wire.definitions.model import Definitions


class UnavailableManagement:
    """`client.backend.Management` of a server that is read over RPC: there is none.

    Args:
        description: where the server is.
    """

    def __init__(self, description: str) -> None:
        self._description: Final = description

    def _refuse(self, what: str = "queues cannot be managed") -> NoReturn:
        raise not_available(what, self._description)

    def create_queue(self, path: str, properties: Info) -> NoReturn:  # noqa: ARG002
        self._refuse("queues cannot be created")

    def delete_queue(self, path: str) -> NoReturn:  # noqa: ARG002
        self._refuse("queues cannot be deleted")

    def set_queue(self, path: str, properties: Info) -> NoReturn:  # noqa: ARG002
        self._refuse()

    def queue_info(self, path: str) -> NoReturn:  # noqa: ARG002
        self._refuse()

    def queue_infos(self, *, include_system: bool) -> NoReturn:  # noqa: ARG002
        self._refuse("queues cannot be listed")

    def grant(
        self,
        path: str,  # noqa: ARG002
        principal: str,  # noqa: ARG002
        rights: Iterable[str],  # noqa: ARG002
        *,
        deny: bool,  # noqa: ARG002
        revoke: bool,  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("rights cannot be changed")

    def status(self) -> NoReturn:
        self._refuse("the state of a queue manager cannot be seen")

    def sample(self, since: int) -> NoReturn:  # noqa: ARG002 - the interface
        self._refuse("a queue manager cannot be watched")

    def reload(self) -> NoReturn:
        self._refuse("a server cannot be told to read files again")

    def hang_up(self, protocol: str, number: int) -> NoReturn:  # noqa: ARG002 - the interface
        self._refuse("sessions cannot be ended")

    def reader_infos(self, path: str) -> NoReturn:  # noqa: ARG002
        self._refuse("readers cannot be listed")

    def events(self, after: int) -> NoReturn:  # noqa: ARG002
        self._refuse("a queue manager cannot be watched")

    def outgoing_infos(self) -> NoReturn:
        self._refuse("outgoing queues cannot be listed")

    def session_infos(self) -> NoReturn:
        self._refuse("sessions cannot be listed")

    def client_infos(self) -> NoReturn:
        self._refuse("clients cannot be listed")

    def transaction_infos(self) -> NoReturn:
        self._refuse("transactions cannot be listed")

    def certificates(
        self,
        *,
        add: bytes = b"",  # noqa: ARG002
        remove: bytes = b"",  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("certificates cannot be registered")

    def resolve_transaction(
        self,
        identifier: str,  # noqa: ARG002
        *,
        commit: bool,  # noqa: ARG002
        dry_run: bool,  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("transactions cannot be resolved")

    def machine_rights(self) -> NoReturn:
        self._refuse("rights cannot be listed")

    def grant_machine(
        self,
        principal: str,  # noqa: ARG002
        rights: Iterable[str],  # noqa: ARG002
        *,
        deny: bool,  # noqa: ARG002
        revoke: bool,  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("rights cannot be changed")

    def explain_access(self, path: str, principal: str) -> NoReturn:  # noqa: ARG002
        self._refuse("rights cannot be explained")

    def set_online(self, *, online: bool) -> NoReturn:  # noqa: ARG002
        self._refuse("a queue manager cannot be taken offline")

    def hold_outgoing(self, destination: str, *, pause: bool) -> NoReturn:  # noqa: ARG002
        self._refuse("outgoing queues cannot be paused")

    def outgoing_info(self, destination: str) -> NoReturn:  # noqa: ARG002
        self._refuse("outgoing queues cannot be listed")

    def route(self, destination: str) -> NoReturn:  # noqa: ARG002
        self._refuse("routes cannot be explained")

    def delayed_infos(self, queue: str) -> NoReturn:  # noqa: ARG002
        self._refuse("delayed messages cannot be listed")

    def decide(
        self,
        queue: str,  # noqa: ARG002
        action: str,  # noqa: ARG002
        lookup_ids: Sequence[int] | None,  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("delayed messages cannot be changed")

    def delete_outgoing(self, destination: str) -> NoReturn:  # noqa: ARG002
        self._refuse("outgoing queues cannot be deleted")

    def redirections(self) -> NoReturn:
        self._refuse("redirections cannot be listed")

    def export_definitions(self) -> NoReturn:
        self._refuse("definitions cannot be exported")

    def apply_definitions(
        self,
        definitions: Definitions,  # noqa: ARG002
        *,
        dry_run: bool,  # noqa: ARG002
        prune: bool,  # noqa: ARG002
        force: bool,  # noqa: ARG002
        recreate: bool,  # noqa: ARG002
    ) -> NoReturn:
        self._refuse("definitions cannot be applied")

    def compare_definitions(self, definitions: Definitions) -> NoReturn:  # noqa: ARG002
        self._refuse("definitions cannot be compared")

    def add_redirection(self, kind: str, url: str, to: str) -> NoReturn:  # noqa: ARG002
        self._refuse("redirections cannot be changed")

    def remove_redirection(self, kind: str, url: str) -> NoReturn:  # noqa: ARG002
        self._refuse("redirections cannot be changed")

    def machine_keys(self, action: str) -> NoReturn:  # noqa: ARG002
        self._refuse("keys of a queue manager cannot be managed")

    def import_machine_keys(self, guid: str, name: str, keys: bytes) -> NoReturn:  # noqa: ARG002
        self._refuse("keys of a queue manager cannot be managed")

    def trace(self, identifier: bytes) -> NoReturn:  # noqa: ARG002
        self._refuse("the history of messages cannot be read")

    def backup(self, file: str) -> NoReturn:  # noqa: ARG002
        self._refuse("a store cannot be copied")
