"""The ports of the interfaces, for clients ([MS-MQQP] 3.1.4.8, [MS-MQMP] 3.1.4.24)."""

from collections.abc import Callable
from enum import IntEnum


class PortType(IntEnum):
    """dwPortType and fIP; the two of SPX are never available."""

    IP_HANDSHAKE = 0
    IP_READ = 1
    IPX_HANDSHAKE = 2
    IPX_READ = 3


class Ports:
    """The ports, which are known once the listeners have them; 0 for a disabled one.

    Args:
        rpc: the port of qmcomm.
        qm2qm: the port of qm2qm.
    """

    __slots__ = ("_ports",)

    def __init__(self, *, rpc: Callable[[], int], qm2qm: Callable[[], int]) -> None:
        self._ports = {int(PortType.IP_HANDSHAKE): rpc, int(PortType.IP_READ): qm2qm}

    def of(self, port_type: int) -> int:
        """The port of this type; 0 if there is none."""
        port = self._ports.get(port_type)
        return 0 if port is None else port()
