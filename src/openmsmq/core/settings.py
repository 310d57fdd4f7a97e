"""Settings: the choices of the owner of a queue manager, and the parameters of a start."""

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
    """The interval at which the directory is read again."""

    sites_seconds: float = 12 * 3600.0
    site_gates_seconds: float = 3600.0
    # Choice: a day, as nothing here depends on a fresh list ([MS-MQSO] 6.4.1.2).
    server_list_seconds: float = 24 * 3600.0


@dataclass(slots=True, kw_only=True)
class Settings:
    """Choices of the owner of the queue manager; none of them is in the store."""

    # Host names and addresses of this machine in a DIRECT format name, besides its name.
    names: frozenset[str] = frozenset()
    # Packets in memory beyond this many bytes are read back from disk.
    memory_budget: int = 256 * 1024 * 1024
    # No message may take longer to reach its queue.
    long_live_time: int = DEFAULT_LONG_LIVE_TIME
    # Whether to send the acknowledgments that reveal to a stranger what exists here.
    send_insecure_nacks: bool = False
    # Hosts, in lower case, to which receipts for messages over HTTP may go; empty allows all.
    receipt_hosts: frozenset[str] = frozenset()
    # Acknowledgments and reports create no further outgoing queues when there are this many.
    max_outgoing_queues: int = 5_000
    # An unused outgoing queue is deleted after this time, at the latest after twice as long.
    unused_outgoing_seconds: float = 3600.0
    # Transactional streams of other queue managers, in total and from one address, and the time
    # after which an unused one is deleted.
    max_streams: int = 50_000
    max_streams_per_address: int = 5_000
    stream_seconds: float = 90 * 86400.0
    # Bytes from one address that wait here to be sent on to other queue managers.
    max_forwarded_bytes_per_address: int = 256 * 1024 * 1024
    # Bytes of messages of other queue managers that may wait for checks.
    max_checking_bytes: int = 64 * 1024 * 1024
    # The policy for signatures: which ones are accepted, from whom.
    senders: SenderPolicy = field(default_factory=SenderPolicy)
    # The form of signatures of local clients, in the words of `HashForm` and `XmlForm`.
    signature_form: str = ""
    srmp_signature_form: str = ""
    # Whether the SID of an unsigned message counts in access checks.
    trust_claimed_senders: bool = True
    # Signatures and decryptions of one address that may fail per minute.
    max_failed_checks: int = 20
    # The interval at which the directory is read again.
    directory_periods: DirectoryPeriods = field(default_factory=DirectoryPeriods)
    # The identity with which the queue manager itself accesses the directory.
    own: Caller = SYSTEM_CALLER
    # Whether events of messages are recorded; the caller has to take them.
    keep_history: bool = False
    # How long a staged batch waits for its commit.
    stage_seconds: float = 24 * 3600.0
    # How long the last batch of a producer is remembered.
    producer_seconds: float = 366 * 86400.0


@dataclass(frozen=True, slots=True)
class MachineIdentity:
    """The names of the machine; the domain is empty outside of one."""

    computer_name: str
    dns_domain: str = ""
    domain_guid: UUID | None = None


class KeySource(Protocol):
    """Makes key pairs, keeps the private keys and returns the public ones as PUBLICKEYBLOB."""

    def exchange_key(self, provider: Provider) -> bytes: ...

    def signing_key(self, provider: Provider) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Provisioning:
    """The parameters of the first start with a directory; without keys none are published.

    `providers` are those whose keys are published.
    """

    keys: KeySource | None = None
    site: UUID | None = None
    providers: tuple[Provider, ...] = tuple(PROVIDERS.values())
