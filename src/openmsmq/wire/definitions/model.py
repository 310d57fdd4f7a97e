"""What a file of definitions says; the field names are the keys of the file."""

from typing import Annotated, Literal

import msgspec

# [MS-MQDMPR] quotas are kilobytes in 32 bits; all of them set is no limit.
NO_QUOTA = 0xFFFFFFFF

Quota = Annotated[int, msgspec.Meta(ge=0, lt=NO_QUOTA)] | Literal["none"]
Words = tuple[str, ...]


class PermissionDefinition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What one principal may do and what is denied to it, in words."""

    principal: str
    allow: Words = ()
    deny: Words = ()


class QueueDefinition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A queue. A property that is not named has its default; permissions stay as they are."""

    path: str
    transactional: bool = False
    label: str = ""
    journal: bool = False
    quota: Quota = "none"
    journal_quota: Quota = "none"
    authenticate: bool = False
    privacy: Literal["none", "optional", "body"] = "optional"
    base_priority: Annotated[int, msgspec.Meta(ge=-0x8000, le=0x7FFF)] = 0
    multicast: str = ""
    type: str = ""
    receive_retry_count: Annotated[int, msgspec.Meta(ge=0)] = 5
    retry_cycle_delay: Annotated[int, msgspec.Meta(ge=0)] = 1800
    max_retry_cycles: Annotated[int, msgspec.Meta(ge=0)] = 2
    receive_error_handling: Literal["none", "move", "reject", "drop", "hold"] = "none"
    permissions: tuple[PermissionDefinition, ...] | None = None


class MachineDefinition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The queue manager itself."""

    permissions: tuple[PermissionDefinition, ...] | None = None


class OutgoingDefinition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """An outgoing queue that is kept from sending."""

    destination: str
    paused: Literal[True] = True


class RedirectionDefinition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Where messages over HTTP go instead."""

    kind: Literal["inbound", "outbound", "exception", "receipts", "forward"]
    url: str
    to: str = ""


class SiteDefinition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A site of the directory."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    foreign: bool = False


class LinkDefinition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A routing link between two sites; gates are computer names of routing servers."""

    sites: tuple[str, str]
    cost: Annotated[int, msgspec.Meta(ge=1, le=999_999)] = 1
    gates: Words = ()


class DistributionListDefinition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Format names that a message for one name goes to."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    members: Words = ()


class KeyDefinition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The public keys of a queue manager in the directory, by the SHA-256 of their list."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    digest: Annotated[str, msgspec.Meta(pattern="^[0-9A-Fa-f]{64}$")]


class CertificateDefinition(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A certificate of a user in the directory, by its MD5, as messages name it."""

    principal: str
    digest: Annotated[str, msgspec.Meta(pattern="^[0-9A-Fa-f]{32}$")]


class Definitions(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One file. A group that is not in it is left alone; an empty group is not."""

    queues: tuple[QueueDefinition, ...] | None = None
    machine: MachineDefinition | None = None
    outgoing: tuple[OutgoingDefinition, ...] | None = None
    redirections: tuple[RedirectionDefinition, ...] | None = None
    sites: tuple[SiteDefinition, ...] | None = None
    links: tuple[LinkDefinition, ...] | None = None
    distribution_lists: tuple[DistributionListDefinition, ...] | None = None
    keys: tuple[KeyDefinition, ...] | None = None
    certificates: tuple[CertificateDefinition, ...] | None = None
