"""What the owner of a queue manager gives it: settings, and what a start needs to know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from openmsmq.security.caller import SYSTEM_CALLER, Caller
from openmsmq.security.certificates.sender_policy import SenderPolicy
from openmsmq.wire.codes.algorithms import PROVIDERS, Provider

if TYPE_CHECKING:
    from uuid import UUID

# [MS-MQDMPR] 3.1.1.12: LongLiveTime, four days.
DEFAULT_LONG_LIVE_TIME: Final = 0x54600


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryPeriods:
    """How often the directory is read again."""

    sites_seconds: float = 12 * 3600.0
    site_gates_seconds: float = 3600.0
    # Choice: a day, as nothing here depends on the list being fresh ([MS-MQSO] 6.4.1.2).
    server_list_seconds: float = 24 * 3600.0


@dataclass(slots=True, kw_only=True)
class Settings:
    """What the owner of the queue manager decides; none of it is kept in the store."""

    # Host names and addresses that mean this machine in a DIRECT format name, besides its name.
    names: frozenset[str] = frozenset()
    # Packets in memory beyond this many bytes are read back from disk.
    memory_budget: int = 256 * 1024 * 1024
    # No message may take longer to reach its queue.
    long_live_time: int = DEFAULT_LONG_LIVE_TIME
    # Whether the acknowledgments that tell a stranger what exists here are sent.
    send_insecure_nacks: bool = False
    # Hosts, in lower case, to which receipts for messages over HTTP may go; none stands for all.
    receipt_hosts: frozenset[str] = frozenset()
    # Acknowledgments and reports make no more outgoing queues when there are this many.
    max_outgoing_queues: int = 5_000
    # An outgoing queue that is unused is forgotten after this long, at most after twice as long.
    unused_outgoing_seconds: float = 3600.0
    # Transactional streams of other queue managers, in all and from one address, and after how
    # long an unused one is forgotten.
    max_streams: int = 50_000
    max_streams_per_address: int = 5_000
    stream_seconds: float = 90 * 86400.0
    # Bytes from one address that wait here to be sent on to other queue managers.
    max_forwarded_bytes_per_address: int = 256 * 1024 * 1024
    # Bytes of messages of other queue managers that may wait for checks.
    max_checking_bytes: int = 64 * 1024 * 1024
    # Which signatures are accepted, from whom.
    senders: SenderPolicy = field(default_factory=SenderPolicy)
    # How local clients write signatures, in the words of `HashForm` and `XmlForm`.
    signature_form: str = ""
    srmp_signature_form: str = ""
    # Whether the SID of an unsigned message counts in access checks.
    trust_claimed_senders: bool = True
    # Signatures and decryptions of one address that may fail in a minute.
    max_failed_checks: int = 20
    # How often the directory is read again.
    directory_periods: DirectoryPeriods = field(default_factory=DirectoryPeriods)
    # In whose name the queue manager itself works with the directory.
    own: Caller = SYSTEM_CALLER
    # Whether what happens to messages is noted; whoever wants it has to take it.
    keep_history: bool = False
    # How long a staged batch waits for its commit.
    stage_seconds: float = 24 * 3600.0
    # How long it is known which batch a producer published last.
    producer_seconds: float = 366 * 86400.0


@dataclass(frozen=True, slots=True)
class MachineIdentity:
    """What the machine says it is called; the domain is empty outside of one."""

    computer_name: str
    dns_domain: str = ""
    domain_guid: UUID | None = None


class KeySource(Protocol):
    """Makes key pairs, keeps the private keys and gives the public ones as PUBLICKEYBLOB."""

    def exchange_key(self, provider: Provider) -> bytes: ...

    def signing_key(self, provider: Provider) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Provisioning:
    """What the first start with a directory may have; without keys none are published.

    `providers` are those whose keys are published.
    """

    keys: KeySource | None = None
    site: UUID | None = None
    providers: tuple[Provider, ...] = tuple(PROVIDERS.values())
