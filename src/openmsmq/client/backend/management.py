"""Management: what a client asks about queues as a whole and about the queue manager."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from openmsmq.client.operations import Operation
from openmsmq.client.properties import Info
from openmsmq.wire.definitions.model import Definitions


class InfoStream(Protocol):
    """A list that comes in parts; the first part is asked for when it is wanted."""

    def next_part(self) -> Operation[list[Info] | None]:
        """The next entries; None after the last."""

    def whole(self) -> Operation[list[Info]]:
        """All entries."""

    def close(self) -> None:
        """Drop the parts that have not come yet."""


class Management(Protocol):
    """What a client asks a queue manager about queues as a whole and about itself."""

    def create_queue(self, path: str, properties: Info) -> Operation[None]:
        """Create a queue."""

    def delete_queue(self, path: str) -> Operation[None]:
        """Delete a queue with everything in it."""

    def set_queue(self, path: str, properties: Info) -> Operation[None]:
        """Change properties of a queue."""

    def queue_info(self, path: str) -> Operation[Info]:
        """Properties, counts and permissions of one queue."""

    def queue_infos(self, *, include_system: bool) -> "InfoStream":
        """Properties and counts of all queues."""

    def grant(
        self, path: str, principal: str, rights: Iterable[str], *, deny: bool, revoke: bool
    ) -> Operation[list[Info]]:
        """Change what a principal may do with a queue; return what is in force."""

    def status(self) -> Operation[Info]:
        """State, identity, endpoints and totals."""

    def sample(self, since: int) -> "InfoStream":
        """Counts of everything, and what changed since an earlier sample."""

    def reload(self) -> Operation[Info]:
        """Read files again."""

    def hang_up(self, protocol: str, number: int) -> Operation[None]:
        """End a session or a client."""

    def reader_infos(self, path: str) -> "InfoStream":
        """Who has a queue open."""

    def events(self, after: int) -> Operation[Info]:
        """The events after a number, or the next one."""

    def outgoing_infos(self) -> "InfoStream":
        """Outgoing queues."""

    def session_infos(self) -> "InfoStream":
        """Sessions with other queue managers."""

    def client_infos(self) -> "InfoStream":
        """Clients of the queue manager."""

    def transaction_infos(self) -> "InfoStream":
        """Open transactions."""

    def resolve_transaction(
        self, identifier: str, *, commit: bool, dry_run: bool
    ) -> Operation[None]:
        """End a transaction in doubt without its coordinator."""

    def certificates(self, *, add: bytes = b"", remove: bytes = b"") -> Operation[list[Info]]:
        """The certificates of this user in the directory, after one is added or taken out."""

    def machine_rights(self) -> Operation[list[Info]]:
        """Who may do what with the queue manager."""

    def grant_machine(
        self, principal: str, rights: Iterable[str], *, deny: bool, revoke: bool
    ) -> Operation[list[Info]]:
        """Change what a principal may do with the queue manager; return what is in force."""

    def explain_access(self, path: str, principal: str) -> Operation[list[Info]]:
        """What a principal may do, and why."""

    def set_online(self, *, online: bool) -> Operation[None]:
        """Whether the queue manager talks to others."""

    def hold_outgoing(self, destination: str, *, pause: bool) -> Operation[Info]:
        """Pause or resume an outgoing queue."""

    def outgoing_info(self, destination: str) -> Operation[Info]:
        """One outgoing queue."""

    def route(self, destination: str) -> Operation[Info]:
        """The way that a message would take."""

    def delete_outgoing(self, destination: str) -> Operation[None]:
        """Forget an outgoing queue that is empty."""

    def redirections(self) -> Operation[list[Info]]:
        """Where messages over HTTP go instead."""

    def add_redirection(self, kind: str, url: str, to: str) -> Operation[Info]:
        """Redirect messages over HTTP, or receipts of their streams."""

    def remove_redirection(self, kind: str, url: str) -> Operation[None]:
        """Redirect something no longer."""

    def export_definitions(self) -> Operation[Info]:
        """Everything that definitions can say."""

    def apply_definitions(
        self,
        definitions: Definitions,
        *,
        dry_run: bool,
        prune: bool,
        force: bool,
        recreate: bool,
    ) -> Operation[list[Info]]:
        """Make things as definitions say; return what is changed, or would be."""

    def compare_definitions(self, definitions: Definitions) -> Operation[list[Info]]:
        """Return what differs from definitions."""

    def delayed_infos(self, queue: str) -> "InfoStream":
        """The delayed messages of one queue, or of all without a name."""

    def decide(self, queue: str, action: str, lookup_ids: Sequence[int] | None) -> Operation[int]:
        """ "deliver" or "cancel" delayed messages, "release" held ones; return how many."""

    def machine_keys(self, action: str) -> Operation[Any]:
        """The keys of the queue manager: "list", "rotate" or "export" them."""

    def import_machine_keys(self, guid: str, name: str, keys: bytes) -> Operation[Info]:
        """Put the public keys of another queue manager into the directory."""

    def trace(self, identifier: bytes) -> Operation[Info]:
        """What the history has of a message."""

    def backup(self, file: str) -> Operation[Info]:
        """Copy the store to a file of the queue manager's machine."""
