"""The queue manager itself: status, sessions, transactions, definitions; and the console."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from openmsmq.admin.front_desk import Caller
from openmsmq.admin.trust.audit import Entry
from openmsmq.admin.trust.problems import Problem
from openmsmq.admin.trust.tokens import Token, digest_of, new_token
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.definitions.reading import fault, read_definitions
from openmsmq.wire.definitions.writing import write_json, write_toml

from .arranging import ListQuery, part_of_long

SECRET_KEYS: Final = ("token",)


class Me(msgspec.Struct, frozen=True, kw_only=True):
    """The caller, and the rights of the caller."""

    principal: str
    role: str
    bodies: bool
    queues: list[str]
    credential: str
    address: str


class TransactionDecision(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The outcome of a transaction in doubt."""

    outcome: Literal["commit", "abort"]


class DefinitionsText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Definitions as TOML or JSON, and how they are applied."""

    text: str
    prune: bool = False
    force: bool = False
    recreate: bool = False


class Changes(msgspec.Struct, frozen=True):
    """The changes, made or expected."""

    changes: list[dict[str, Any]]

    @property
    def count(self) -> int:
        """The number of changes made; reported ones do not count."""
        return sum(change["action"] not in ("unlisted", "missing") for change in self.changes)


class TokenRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A token, without its secret."""

    name: str
    principal: str
    role: str
    bodies: bool
    queues: list[str]
    ends: str | None


class TokenList(msgspec.Struct, frozen=True):
    """Every token; `after` continues it."""

    tokens: list[TokenRecord]
    after: str | None = None


class TokenToAdd(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token to make."""

    name: str
    principal: str
    role: Literal["reader", "operator", "administrator"] = "reader"
    bodies: bool = False
    queues: list[str] = []
    ends: datetime | None = None


class NewToken(msgspec.Struct, frozen=True):
    """A token, shown this once."""

    name: str
    token: str


class AuditQuery(ListQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which entries of the audit log."""

    limit: int = 200


class AuditEntries(msgspec.Struct, frozen=True):
    """Entries of the audit log, the newest first; `after` continues it."""

    entries: list[Entry]
    after: str | None = None


class BackupFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file on the machine of the queue manager."""

    file: str


class Records(msgspec.Struct, frozen=True):
    """A list from the queue manager; `after` continues it."""

    entries: list[dict[str, Any]]
    after: str | None = None


async def show_status(caller: Caller) -> dict[str, Any]:
    """State, identity, endpoints and totals of the queue manager."""
    return await (await caller.manager()).status()


async def show_me(caller: Caller) -> Me:
    """The caller, and the rights of the caller."""
    person = caller.person
    return Me(
        principal=person.principal,
        role=person.role.word,
        bodies=person.sees_bodies,
        queues=list(person.queues),
        credential=person.credential,
        address=person.address,
    )


async def show_settings(caller: Caller) -> dict[str, Any]:
    """The configuration in force: of the queue manager, and of the console, without secrets."""
    settings = msgspec.structs.asdict(caller.desk.console.settings)
    configuration: dict[str, Any] = settings.pop("configuration")
    return configuration | {
        name: str(value) if isinstance(value, Path) else value
        for name, value in settings.items()
        if name not in SECRET_KEYS
    }


async def list_sessions(caller: Caller) -> Records:
    """Sessions with other queue managers, with rates."""
    return _with_rates(caller, await (await caller.manager()).sessions())


async def list_clients(caller: Caller) -> Records:
    """Clients of the queue manager, with their open resources and rates."""
    return _with_rates(caller, await (await caller.manager()).clients())


def _with_rates(caller: Caller, entries: list[dict[str, Any]]) -> Records:
    """Sessions or clients with their rates, which come from the shared samples."""
    sampler = caller.desk.console.sampler
    sampler.look()
    return Records(
        [{**entry, **sampler.rates.of((entry["protocol"], entry["id"]))} for entry in entries]
    )


async def list_transactions(caller: Caller) -> Records:
    """Open, prepared and doubtful transactions."""
    return Records(await (await caller.manager()).transactions())


async def resolve_transaction(caller: Caller, transaction: str, body: TransactionDecision) -> None:
    """End a transaction in doubt manually."""
    manager = await caller.manager()
    await manager.resolve_transaction(transaction, commit=body.outcome == "commit")


async def export_definitions(caller: Caller) -> bytes:
    """Queues, permissions and policies as TOML."""
    return write_toml(await (await caller.manager()).export_definitions()).encode()


async def definitions_json(caller: Caller) -> dict[str, Any]:
    """Queues, permissions and policies as JSON."""
    found = await (await caller.manager()).export_definitions()
    value: dict[str, Any] = msgspec.json.decode(write_json(found))
    return value


async def diff_definitions(caller: Caller, body: DefinitionsText) -> Changes:
    """The changes that definitions would make."""
    return await _apply(caller, body, dry_run=True)


async def apply_definitions(caller: Caller, body: DefinitionsText) -> Changes:
    """Apply definitions, completely or not at all."""
    return await _apply(caller, body, dry_run=False)


async def _apply(caller: Caller, body: DefinitionsText, *, dry_run: bool) -> Changes:
    source = "definitions.json" if body.text.lstrip().startswith("{") else "definitions.toml"
    definitions = read_definitions(body.text, source)
    manager = await caller.manager()
    try:
        changes = await manager.apply_definitions(
            definitions,
            dry_run=dry_run,
            prune=body.prune,
            force=body.force,
            recreate=body.recreate,
        )
    except QueueError as exc:
        if not exc.detail.startswith("$"):
            raise
        place, _, reason = exc.detail.partition(": ")
        error = fault(body.text, source, place, reason)
        remedy = exc.known_remedy or error.remedy
        raise QueueError(exc.code, error.detail, cause=exc.known_cause, remedy=remedy) from exc
    return Changes(changes)


async def backup(caller: Caller, body: BackupFile) -> dict[str, Any]:
    """Copy the store to a file on the machine of the queue manager."""
    return await (await caller.manager()).backup(body.file)


async def list_tokens(caller: Caller) -> TokenList:
    """Every token."""
    return TokenList(
        [
            TokenRecord(
                name=entry.name,
                principal=entry.principal,
                role=entry.role,
                bodies=entry.bodies,
                queues=list(entry.queues),
                ends=None if entry.ends is None else entry.ends.isoformat(),
            )
            for entry in caller.desk.tokens.all()
        ]
    )


async def add_token(caller: Caller, body: TokenToAdd) -> NewToken:
    """Make a token; it is shown this once."""
    tokens = caller.desk.tokens
    if any(entry.name == body.name for entry in tokens.all()):
        raise Problem(
            409,
            f"There is a token {body.name} already.",
            cause="Names of tokens are used once.",
            remedy="Choose another name, or remove that token first.",
            name="TOKEN_EXISTS",
        )
    await caller.desk.check_principal(body.principal)
    secret = new_token()
    ends = body.ends
    if ends is not None and ends.tzinfo is None:
        ends = ends.replace(tzinfo=UTC)
    tokens.add(
        Token(
            name=body.name,
            sha256=digest_of(secret),
            principal=body.principal,
            role=body.role,
            bodies=body.bodies,
            queues=tuple(body.queues),
            ends=ends,
        )
    )
    return NewToken(body.name, secret)


async def remove_token(caller: Caller, token: str) -> None:
    """Remove a token; sessions that were begun with it end."""
    if not caller.desk.tokens.remove(token):
        raise Problem(404, f"There is no token {token}.")


async def list_audit(caller: Caller, query: AuditQuery) -> AuditEntries:
    """Entries of the audit log, the newest first."""
    newest = caller.desk.audit.newest
    entries, after = await asyncio.to_thread(part_of_long, newest, query, _entry_key)
    return AuditEntries(entries, after)


def _entry_key(entry: Entry) -> str:
    """An action and its result share a number, and numbers begin anew with each console."""
    state = "ended" if entry.result != "begun" else "job" if entry.job else "begun"
    return f"{entry.time.partition('+')[0]}-{entry.number}-{state}"
