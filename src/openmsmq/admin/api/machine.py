"""The queue manager among other machines: permissions, routes, redirections, on and off line."""

from typing import Any, Literal

import msgspec

from openmsmq.admin.front_desk import Caller

from .arranging import arranged
from .messages import number as number_of
from .queues import AccessAnswers, AccessQuestion, PermissionChange, Permissions


class RouteQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The destination of a route.

    Attributes:
        destination: a path name or format name.
    """

    destination: str = ""


class Reloaded(msgspec.Struct, frozen=True):
    """What was read again, and what failed, with the reason."""

    reloaded: list[str]
    failed: dict[str, str]


class Redirection(msgspec.Struct, frozen=True, kw_only=True):
    """The redirection of messages to a URL, or of their receipts."""

    kind: str
    url: str
    to: str = ""


class RedirectionList(msgspec.Struct, frozen=True):
    """Every redirection; `after` continues it."""

    redirections: list[Redirection]
    after: str | None = None


class RedirectionChange(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A redirection to add, or without `to` to remove."""

    kind: Literal["inbound", "outbound", "exception", "receipts", "forward"]
    url: str
    to: str = ""


class Reachable(msgspec.Struct, frozen=True):
    """Whether the queue manager is online."""

    online: bool


async def show_route(caller: Caller, query: RouteQuery) -> dict[str, Any]:
    """The route that a message to a destination would take, and why; nothing is sent."""
    return await (await caller.manager()).route(query.destination)


async def machine_rights(caller: Caller) -> Permissions:
    """The permissions of the queue manager itself."""
    entries = await (await caller.manager()).machine_rights()
    return msgspec.convert({"permissions": entries}, Permissions)


async def explain_machine(caller: Caller, query: AccessQuestion) -> AccessAnswers:
    """The effective rights of a principal on the queue manager itself, one by one, and why."""
    principal = query.principal or caller.person.principal
    found = await (await caller.manager()).explain_access("", principal)
    return arranged(msgspec.convert({"answers": found}, AccessAnswers), "answers", query)


async def grant_machine(caller: Caller, body: PermissionChange) -> Permissions:
    """Allow a principal an action on the queue manager, or deny it."""
    manager = await caller.manager()
    entries = await manager.grant_machine(body.principal, body.rights, deny=body.deny)
    return msgspec.convert({"permissions": entries}, Permissions)


async def revoke_machine(caller: Caller, body: PermissionChange) -> Permissions:
    """Revoke rights on the queue manager that were granted or denied before."""
    entries = await (await caller.manager()).revoke_machine(body.principal, body.rights)
    return msgspec.convert({"permissions": entries}, Permissions)


async def take_offline(caller: Caller) -> Reachable:
    """Send nothing to other machines and accept nothing from them, until it is online again."""
    await (await caller.manager()).take_offline()
    return Reachable(online=False)


async def bring_online(caller: Caller) -> Reachable:
    """Exchange messages with other machines again."""
    await (await caller.manager()).bring_online()
    return Reachable(online=True)


async def reload(caller: Caller) -> Reloaded:
    """Let the queue manager read tokens, certificates, quotas and its log level again."""
    return msgspec.convert(await (await caller.manager()).reload(), Reloaded)


async def list_redirections(caller: Caller) -> RedirectionList:
    """The redirections of messages over HTTP."""
    found = await (await caller.manager()).redirections()
    return msgspec.convert({"redirections": found}, RedirectionList)


async def add_redirection(caller: Caller, body: RedirectionChange) -> Redirection:
    """Redirect messages to a URL, or their receipts."""
    manager = await caller.manager()
    return msgspec.convert(await manager.add_redirection(body.kind, body.url, body.to), Redirection)


async def remove_redirection(caller: Caller, body: RedirectionChange) -> None:
    """Remove a redirection."""
    await (await caller.manager()).remove_redirection(body.kind, body.url)


async def hang_up(caller: Caller, protocol: str, number: str) -> None:
    """End a session with another queue manager, or a client; its locked messages go back."""
    await (await caller.manager()).hang_up(protocol, number_of(number, "number"))
