"""Management: what a client asks about queues as a whole and about the queue manager."""

from collections.abc import Iterable
from typing import Protocol

from openmsmq.client.operations import Operation
from openmsmq.client.properties import Info


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

    def outgoing_infos(self) -> "InfoStream":
        """Outgoing queues."""

    def session_infos(self) -> "InfoStream":
        """Sessions with other queue managers."""

    def client_infos(self) -> "InfoStream":
        """Clients of the queue manager."""

    def transaction_infos(self) -> "InfoStream":
        """Open transactions."""

    def machine_rights(self) -> Operation[list[Info]]:
        """Who may do what with the queue manager."""

    def grant_machine(
        self, principal: str, rights: Iterable[str], *, deny: bool, revoke: bool
    ) -> Operation[list[Info]]:
        """Change what a principal may do with the queue manager; return what is in force."""

    def hold_outgoing(self, destination: str, *, pause: bool) -> Operation[Info]:
        """Pause or resume an outgoing queue."""

    def outgoing_info(self, destination: str) -> Operation[Info]:
        """One outgoing queue."""

    def delete_outgoing(self, destination: str) -> Operation[None]:
        """Forget an outgoing queue that is empty."""

    def redirections(self) -> Operation[list[Info]]:
        """Where messages over HTTP go instead."""

    def add_redirection(self, kind: str, url: str, to: str) -> Operation[Info]:
        """Redirect messages over HTTP, or receipts of their streams."""

    def remove_redirection(self, kind: str, url: str) -> Operation[None]:
        """Redirect something no longer."""

    def backup(self, file: str) -> Operation[Info]:
        """Copy the store to a file of the queue manager's machine."""
