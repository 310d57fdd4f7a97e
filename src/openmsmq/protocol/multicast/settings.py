"""What can be set about multicast."""

from collections.abc import Callable
from dataclasses import dataclass, field

from openmsmq.protocol.pgm import ReceiverSettings, SourceSettings


@dataclass(frozen=True, slots=True)
class Randomness:
    """What must differ from others and from the last start.

    Attributes:
        global_source_id: six bytes that name this queue manager among all sources of PGM.
        random: gives numbers from 0 up to 1.
    """

    global_source_id: bytes
    random: Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class MulticastSettings:
    """Times are in seconds.

    Attributes:
        source: of PGM, for each address that messages are sent to.
        receiver: of PGM, for each address that queues listen to.
        retry_seconds: how long to wait before a socket that was refused is asked for again.
        idle_seconds: how long an address is kept open to which nothing is sent.
        max_destinations: addresses that messages are sent to at one time, with those that only
            repair what they sent.
        max_groups: addresses that are listened to; queues of further ones get nothing.
        max_partial_bytes: requests that are not whole yet, of all sources of one address.
        loss_seconds: how often losses of one address are reported.
    """

    source: SourceSettings = field(default_factory=SourceSettings)
    receiver: ReceiverSettings = field(default_factory=ReceiverSettings)
    retry_seconds: float = 20.0
    idle_seconds: float = 300.0
    max_destinations: int = 64
    max_groups: int = 64
    max_partial_bytes: int = 33_554_432
    loss_seconds: float = 10.0
