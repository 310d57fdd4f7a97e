"""Requests of administrators: outgoing queues, keys, rights, lists, definitions."""

from typing import Annotated, Literal

from msgspec import Meta

from openmsmq.wire.definitions.model import Definitions

from .request import Request, Words


class ListOutgoing(Request, frozen=True, tag=60):
    pass


class HoldOutgoing(Request, frozen=True, tag=61):
    """Pause or resume an outgoing queue."""

    destination: str
    pause: bool


class Backup(Request, frozen=True, tag=62):
    """Copy the store to a file of the queue manager's machine while it runs."""

    file: str


class TraceMessage(Request, frozen=True, tag=78):
    """The known facts about a message, by its identifier of 20 bytes."""

    identifier: Annotated[bytes, Meta(min_length=20, max_length=20)]


class MachineKeys(Request, frozen=True, tag=90):
    """The keys of the queue manager: list, replace or export them."""

    action: Literal["list", "rotate", "export"]


class ImportMachineKeys(Request, frozen=True, tag=91):
    """Put the public keys of another queue manager, an MQDSPUBLICKEYS, into the directory."""

    guid: str
    name: str
    keys: bytes


class ShowOutgoing(Request, frozen=True, tag=63):
    """One outgoing queue."""

    destination: str


class DeleteOutgoing(Request, frozen=True, tag=64):
    """Delete an outgoing queue that is empty."""

    destination: str


class ListRedirections(Request, frozen=True, tag=65):
    """The redirections of messages over HTTP."""


class ChangeRedirection(Request, frozen=True, tag=66):
    """Add a redirection, or remove it."""

    kind: str
    url: str
    to: str
    remove: bool


class ExplainRoute(Request, frozen=True, tag=67):
    """The route that a message would take."""

    destination: str


class ExportDefinitions(Request, frozen=True, tag=75):
    """Queues, permissions, paused outgoing queues and redirections as definitions."""


class ApplyDefinitions(Request, frozen=True, tag=76):
    """Apply definitions; `dry_run` only reports the changes.

    `compare` only reports differences, even those that could not be changed.
    """

    definitions: Definitions
    dry_run: bool
    prune: bool
    force: bool
    recreate: bool
    compare: bool


class ListSessions(Request, frozen=True, tag=70):
    """The sessions with other queue managers."""


class ListClients(Request, frozen=True, tag=71):
    """The clients: those of the caller, or all."""


class ListTransactions(Request, frozen=True, tag=72):
    """The open transactions."""


class UserCertificates(Request, frozen=True, tag=81):
    """The certificates of the caller in the directory, after one is added or removed."""

    add: bytes = b""
    # The MD5 of the certificate to remove.
    remove: bytes = b""


class ResolveTransaction(Request, frozen=True, tag=77):
    """End a transaction in doubt manually; `transaction` is its GUID.

    `dry_run` makes the same checks and ends nothing.
    """

    transaction: str
    commit: bool
    dry_run: bool = False


class MachineRights(Request, frozen=True, tag=73):
    """The permissions of the queue manager."""


class GrantMachine(Request, frozen=True, tag=74):
    """Change the rights of a principal on the queue manager; `revoke` removes them."""

    principal: str
    rights: Words
    deny: bool = False
    revoke: bool = False


class Sample(Request, frozen=True, tag=100):
    """Counts of everything in packed columns; of queues only changes since a sample.

    `since` is the number in the last answer; 0 asks for everything.
    """

    since: int = 0


class Reload(Request, frozen=True, tag=101):
    """Read tokens, certificates, quotas and the log level again."""


class HangUp(Request, frozen=True, tag=102):
    """End a session with another queue manager, or a client, by its protocol and id."""

    protocol: str
    number: int


class ListReaders(Request, frozen=True, tag=103):
    """The open handles of a queue, and how many reads wait on each."""

    path: str


class Watch(Request, frozen=True, tag=104):
    """The events after a number, up to 1,000; without any, the answer waits for the next."""

    after: int


class ExplainAccess(Request, frozen=True, tag=105):
    """The effective rights of a principal on a queue, or on the queue manager, and why."""

    # Empty for the queue manager.
    path: str
    principal: str


class SetOnline(Request, frozen=True, tag=95):
    """Take the queue manager offline, or bring it online."""

    online: bool


AdministrationRequest = (
    ListOutgoing
    | HoldOutgoing
    | ShowOutgoing
    | DeleteOutgoing
    | ExplainRoute
    | ListRedirections
    | ChangeRedirection
    | Backup
    | TraceMessage
    | MachineKeys
    | ImportMachineKeys
    | ListSessions
    | ListClients
    | ListTransactions
    | UserCertificates
    | ResolveTransaction
    | MachineRights
    | GrantMachine
    | SetOnline
    | Sample
    | Reload
    | HangUp
    | ListReaders
    | Watch
    | ExplainAccess
    | ExportDefinitions
    | ApplyDefinitions
)
