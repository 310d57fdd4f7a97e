"""Multicast of one queue manager over sockets, around `MulticastProtocol`."""

import asyncio
import errno
import socket
from collections.abc import Callable
from functools import partial
from ipaddress import IPv4Address
from typing import Final

from openmsmq.net.streams import Host
from openmsmq.protocol.multicast.events import Join, Leave, Lost, OpenSocket
from openmsmq.protocol.multicast.manager import MulticastProtocol
from openmsmq.protocol.pgm import OutgoingDatagram
from openmsmq.wire.codes.queue_enums import ConnectionStatus

from .sockets import (
    MAX_DATAGRAM,
    SocketSettings,
    open_group,
    open_sending,
    own_address,
    payload_of,
    set_router_alert,
    set_ttl,
)

# The number of datagrams read from one socket before others have their turn.
BURST: Final = 128
_NO_PRIVILEGE: Final = (errno.EPERM, errno.EACCES)
_STATUSES: Final = {
    errno.EADDRINUSE: ConnectionStatus.BIND_SOCKET_FAILURE,
    errno.EADDRNOTAVAIL: ConnectionStatus.BIND_SOCKET_FAILURE,
}
NOT_ALLOWED: Final = (
    "raw IP needs root or the capability CAP_NET_RAW; give it to the program, or set "
    "multicast_encapsulation to udp, which needs neither"
)


class MulticastShell:
    """Opens sockets and transfers datagrams; its timers are in the engine.

    Args:
        protocol: makes all decisions.
        host: the queue manager's turn of the event loop.
        off: why multicast is disabled; empty if it is not.
        lost: called when data was lost permanently.
        join_failed: called with a group that cannot be joined, and the reason.
    """

    def __init__(
        self,
        protocol: MulticastProtocol,
        host: Host,
        settings: SocketSettings,
        *,
        off: str = "",
        lost: Callable[[Lost], None],
        join_failed: Callable[[IPv4Address, str], None],
    ) -> None:
        self._protocol = protocol
        self._host = host
        self._settings = settings
        self._off = off
        self._lost = lost
        self._join_failed = join_failed
        self._sending: socket.socket | None = None
        self._groups: dict[IPv4Address, socket.socket] = {}
        # Whether the sending socket is the one to which receivers send their NAKs.
        self._gets_naks = False
        # The current options of the sending socket.
        self._ttl = settings.ttl
        self._alert = False
        self._closed = False
        self.unsent = 0
        # Bytes since the start.
        self.received_bytes = 0
        self.sent_bytes = 0

    @property
    def address(self) -> str:
        """The address to which NAKs are sent; empty while nothing is sent."""
        if self._sending is None or not self._gets_naks:
            return ""
        address, port = self._sending.getsockname()[:2]
        return f"{address}:{port}" if port else str(address)

    def check(self) -> str:
        """Why the sockets cannot be opened; empty if they can. All are closed again."""
        if self._off:
            return self._off
        try:
            open_sending(self._settings, own_address(self._settings)).close()
        except OSError as exc:
            return explain(exc, self._settings)
        return ""

    async def close(self) -> None:
        """Send the last packets and close the sockets; the protocol has been stopped before."""
        self.turn()
        self._closed = True
        for group in list(self._groups):
            self._leave(group)
        self._close_sending()

    def has_output(self) -> bool:
        """Whether `turn` may have work."""
        return self._protocol.in_use

    def turn(self) -> None:
        """Carry out the requests of the protocol; in each turn while multicast is used."""
        if self._closed:
            return
        now = self._host.tick()
        protocol = self._protocol
        protocol.turn()
        while (event := protocol.next_event()) is not None:
            if isinstance(event, OpenSocket):
                self._open(now)
            elif isinstance(event, Join):
                self._join(event.group, now)
            elif isinstance(event, Leave):
                self._leave(event.group)
            else:
                self._lost(event)
        for datagram in protocol.datagrams_to_send(now=now):
            self._send(datagram)

    # Sockets

    def _open(self, now: float) -> None:
        if self._off:
            self._protocol.open_failed(ConnectionStatus.CREATE_SOCKET_FAILURE, self._off, now=now)
            return
        try:
            address = self._open_source()
        except OSError as exc:
            status = _STATUSES.get(exc.errno or 0, ConnectionStatus.CREATE_SOCKET_FAILURE)
            self._protocol.open_failed(status, explain(exc, self._settings), now=now)
        else:
            self._protocol.opened(address, now=now)

    def _open_source(self) -> IPv4Address:
        """Ensure a socket that receives NAKs; return the address of this machine.

        Raises:
            OSError: it cannot be opened.
        """
        address = own_address(self._settings)
        if not self._gets_naks:
            self._use(open_sending(self._settings, address))
            self._gets_naks = True
        return address

    def _open_receiver(self) -> IPv4Address:
        """Ensure a socket that sends NAKs, on any port; return the address of this machine.

        Raises:
            OSError: it cannot be opened.
        """
        address = own_address(self._settings)
        if self._sending is None:
            self._use(open_sending(self._settings, address, 0))
            self._gets_naks = self._settings.raw
        return address

    def _use(self, sending: socket.socket) -> None:
        """Send from a socket, in place of the previous one."""
        self._close_sending()
        self._sending = sending
        self._ttl, self._alert = self._settings.ttl, False
        self._listen(sending, None)

    def _close_sending(self) -> None:
        if self._sending is not None:
            asyncio.get_running_loop().remove_reader(self._sending)
            self._sending.close()
            self._sending = None

    def _join(self, group: IPv4Address, now: float) -> None:
        if self._off:
            return
        try:
            address = self._open_receiver()
            listening = open_group(self._settings, group, address)
        except OSError as exc:
            self._protocol.join_failed(group, now=now)
            self._join_failed(group, explain(exc, self._settings))
            return
        self._groups[group] = listening
        self._listen(listening, group)

    def _leave(self, group: IPv4Address) -> None:
        listening = self._groups.pop(group, None)
        if listening is not None:
            asyncio.get_running_loop().remove_reader(listening)
            listening.close()

    def _listen(self, listening: socket.socket, group: IPv4Address | None) -> None:
        read = partial(self._read, listening, group)
        asyncio.get_running_loop().add_reader(listening, read)

    # Datagrams

    def _read(self, listening: socket.socket, group: IPv4Address | None) -> None:
        now = self._host.tick()
        raw = self._settings.raw
        for _ in range(BURST):
            try:
                data, peer = listening.recvfrom(MAX_DATAGRAM)
            except OSError:
                # Nothing is left, or the system reports an error of a datagram that was sent.
                break
            self.received_bytes += len(data)
            self._protocol.receive_datagram(
                payload_of(data, raw=raw), source=IPv4Address(peer[0]), group=group, now=now
            )
        self._host.wake()

    def _send(self, datagram: OutgoingDatagram) -> None:
        sending = self._sending
        if sending is None:
            return
        settings = self._settings
        multicast = datagram.destination.is_multicast
        port = settings.group_port() if multicast else settings.unicast_port()
        ttl = datagram.ttl or settings.ttl
        try:
            if ttl != self._ttl:
                set_ttl(sending, ttl)
                self._ttl = ttl
            # Routers do not inspect UDP.
            if settings.raw and datagram.router_alert != self._alert:
                set_router_alert(sending, alert=datagram.router_alert)
                self._alert = datagram.router_alert
            self.sent_bytes += sending.sendto(datagram.data, (str(datagram.destination), port))
        except OSError:
            # Like a loss in transit: receivers ask for it again.
            self.unsent += 1


def explain(error: OSError, settings: SocketSettings) -> str:
    """Why a socket cannot be opened, as text."""
    if settings.raw and error.errno in _NO_PRIVILEGE:
        return NOT_ALLOWED
    where = settings.interface or "the default interface"
    if error.errno == errno.EADDRINUSE:
        return f"another program has UDP port {settings.udp_unicast_port} of {where}"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"multicast_interface: {where} is not an address of this machine"
    if error.errno == errno.ENETUNREACH:
        return "there is no route for multicast; set multicast_interface to an address"
    return f"multicast on {where} is not possible: {error.strerror or error}"
