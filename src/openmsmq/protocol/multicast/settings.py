"""Settings of multicast."""

from collections.abc import Callable
from dataclasses import dataclass, field

from openmsmq.protocol.pgm import ReceiverSettings, SourceSettings


@dataclass(frozen=True, slots=True)
class Randomness:
    """Values that must differ from others and from the last start.

    Attributes:
        global_source_id: six bytes that identify this queue manager among all sources of PGM.
        random: returns numbers from 0 up to 1.
    """

    global_source_id: bytes
    random: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class MulticastSettings:
    """Times are in seconds.

    Attributes:
        source: settings of PGM for each address to which messages are sent.
        receiver: settings of PGM for each address to which queues listen.
        retry_seconds: the pause before a failed socket is requested again.
        idle_seconds: how long an unused address is kept open.
        max_destinations: concurrent addresses of outgoing messages, including those that only
            repair earlier data.
        max_groups: addresses that are received; queues of further ones receive nothing.
        max_partial_bytes: incomplete requests of all sources of one address.
        loss_seconds: the interval of reports of losses of one address.
    """

    source: SourceSettings = field(default_factory=SourceSettings)
    receiver: ReceiverSettings = field(default_factory=ReceiverSettings)
    retry_seconds: float = 20.0
    idle_seconds: float = 300.0
    max_destinations: int = 64
    max_groups: int = 64
    max_partial_bytes: int = 33_554_432
    loss_seconds: float = 10.0
