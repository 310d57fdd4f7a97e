"""Who talks to whom."""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address


@dataclass(frozen=True, slots=True)
class Flow:
    """One direction of a conversation; addresses as in the packet, 4 or 16 bytes."""

    source: bytes
    source_port: int
    destination: bytes
    destination_port: int

    def reversed(self) -> "Flow":
        return Flow(self.destination, self.destination_port, self.source, self.source_port)

    @property
    def source_text(self) -> str:
        """Address and port, as `192.0.2.1:1801` or `[2001:db8::1]:1801`."""
        return _endpoint(self.source, self.source_port)

    @property
    def destination_text(self) -> str:
        """Address and port, as `192.0.2.1:1801` or `[2001:db8::1]:1801`."""
        return _endpoint(self.destination, self.destination_port)

    def __str__(self) -> str:
        return f"{self.source_text} -> {self.destination_text}"


# Few machines make all traffic.
@lru_cache(maxsize=4096)
def _endpoint(address: bytes, port: int) -> str:
    text = str(ip_address(address))
    return f"[{text}]:{port}" if len(address) == 16 else f"{text}:{port}"
