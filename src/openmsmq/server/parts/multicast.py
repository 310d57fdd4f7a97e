"""The part that sends and receives messages by multicast (SRMP over PGM)."""

import os
from collections.abc import Callable, Iterator, Mapping
from ipaddress import AddressValueError, IPv4Address
from random import SystemRandom
from typing import Final, Literal

from openmsmq.core.management.counters import MULTICAST_PACKETS, SESSION_BYTES, Count
from openmsmq.core.model.queue import Queue
from openmsmq.net.pgm.shell import MulticastShell
from openmsmq.net.pgm.sockets import SocketSettings
from openmsmq.net.streams import ANY_ADDRESS
from openmsmq.protocol.multicast.events import Lost
from openmsmq.protocol.multicast.manager import MulticastProtocol
from openmsmq.protocol.multicast.settings import MulticastSettings, Randomness
from openmsmq.protocol.outgoing_status import OutgoingStatus
from openmsmq.protocol.pgm import ReceiverSettings, SourceSettings
from openmsmq.server.common_config import KIBIBYTE, MEBIBYTE, CommonConfig
from openmsmq.server.settings import setting
from openmsmq.service.logs import (
    MULTICAST_LOST,
    MULTICAST_NOT_HEARD,
    MULTICAST_UNAVAILABLE,
    log_event,
)

from .part import PartStatus, Premises, settings_of

OFF: Final = "multicast is switched off: the key multicast is false"
# The limit of data that a source keeps for repairs.
MAX_WINDOW_BYTES: Final = 256 * MEBIBYTE
# Data queued in a source; it no longer expires.
QUEUED_BYTES: Final = 16 * KIBIBYTE


def check_interface(address: str) -> str:
    """Refuse a text that is not an address."""
    if address:
        try:
            IPv4Address(address)
        except AddressValueError as exc:
            raise ValueError("an IPv4 address of this machine, or nothing") from exc
    return address


class MulticastConfig(CommonConfig):
    """Settings of multicast: those of `MulticastSettings` and `SocketSettings`."""

    multicast: bool = True
    multicast_encapsulation: Literal["raw", "udp"] = "raw"
    # An address of this machine; empty for that of `bind`.
    multicast_interface: str = setting(default="", max_length=15, check=check_interface)
    # The ports of OpenPGM's examples.
    multicast_udp_port: int = setting(default=3056, ge=1, le=65_535)
    multicast_udp_unicast_port: int = setting(default=3055, ge=1, le=65_535)
    multicast_ttl: int = setting(default=16, ge=1, le=255)
    multicast_rate: float = setting(default=70_000.0, ge=1_000.0, le=1e9)
    multicast_window_seconds: float = setting(default=300.0, ge=1.0, le=3_600.0)
    multicast_packet_bytes: int = setting(default=1_400, ge=256, le=32 * KIBIBYTE)
    multicast_retry_seconds: float = setting(default=20.0, ge=1.0, le=86_400.0)
    multicast_idle_seconds: float = setting(default=300.0, ge=1.0, le=86_400.0)
    multicast_session_seconds: float = setting(default=300.0, ge=20.0, le=86_400.0)
    multicast_max_destinations: int = setting(default=64, ge=1, le=1_000)
    multicast_max_groups: int = setting(default=64, ge=1, le=1_000)
    multicast_max_sources: int = setting(default=256, ge=1, le=100_000)
    multicast_max_buffered_bytes: int = setting(default=32 * MEBIBYTE, ge=128 * KIBIBYTE)
    multicast_max_partial_bytes: int = setting(default=32 * MEBIBYTE, ge=128 * KIBIBYTE)

    def conflicts(self) -> dict[str, str]:
        rate, seconds = self.multicast_rate, self.multicast_window_seconds
        if SourceSettings(txw_max_rte=rate, txw_secs=seconds).txw_bytes <= MAX_WINDOW_BYTES:
            return {}
        return {
            "multicast_window_seconds": f"{seconds}: with {rate:g} bytes a second (multicast_rate) "
            f"that is more than the {MAX_WINDOW_BYTES // MEBIBYTE} MiB that may be kept for repairs"
        }


class MulticastPart:
    """Messages by multicast, while the process runs."""

    name: Final = "multicast"

    def __init__(self, config: MulticastConfig, premises: Premises) -> None:
        self._host = host = premises.host
        self.protocol: Final = MulticastProtocol(
            host.manager,
            Randomness(os.urandom(6), SystemRandom().random),
            multicast_settings(config),
        )
        self.shell: Final = MulticastShell(
            self.protocol,
            host,
            socket_settings(config),
            off="" if config.multicast else OFF,
            lost=log_lost,
            join_failed=log_not_heard,
        )
        self._fault = ""
        self._is_on = config.multicast
        host.engine.add_carrier(self.protocol)
        host.engine.add_output(self.shell.turn, self.shell.has_output)
        host.manager.management.add_transfers(self._transfer_status)
        if config.multicast:
            host.manager.management.add_sessions(self.protocol)
        host.manager.management.add_counters(self._counts)

    @staticmethod
    def check(config: MulticastConfig) -> None:
        """Refuse nothing: without the right to its sockets there is no multicast."""

    async def listen(self) -> dict[str, str]:
        """Begin to send waiting messages, and to listen for the queues that have an address."""
        if self._is_on:
            self._fault = self.shell.check()
            if self._fault:
                log_event(MULTICAST_UNAVAILABLE, reason=self._fault)
        self.protocol.start(now=self._host.tick())
        self._host.wake()
        return {}

    def status(self) -> PartStatus:
        address = self.shell.address
        return PartStatus({"multicast": address} if address else {})

    def _transfer_status(self, queue: Queue) -> OutgoingStatus | None:
        return self.protocol.outgoing_status(queue, now=self._host.tick())

    def _counts(self) -> Iterator[Count]:
        for kind, count in self.protocol.packet_counts():
            yield MULTICAST_PACKETS, (kind,), count
        yield MULTICAST_PACKETS, ("unsent",), self.shell.unsent
        yield SESSION_BYTES, (self.name, "incoming"), self.shell.received_bytes
        yield SESSION_BYTES, (self.name, "outgoing"), self.shell.sent_bytes

    @property
    def reloads(self) -> Mapping[str, Callable[[], None]]:
        return {}

    async def close(self) -> None:
        """Tell receivers that the source ends; unsent messages wait for the next start."""
        self.protocol.stop(now=self._host.tick())
        await self.shell.close()


def source_settings(config: MulticastConfig) -> SourceSettings:
    """The settings of PGM for sources."""
    return SourceSettings(
        txw_max_rte=config.multicast_rate,
        txw_secs=config.multicast_window_seconds,
        max_packet_bytes=config.multicast_packet_bytes,
        max_queued_bytes=QUEUED_BYTES,
    )


def multicast_settings(config: MulticastConfig) -> MulticastSettings:
    """The settings of multicast, PGM included."""
    return settings_of(
        MulticastSettings,
        config,
        prefix="multicast_",
        source=source_settings(config),
        receiver=settings_of(ReceiverSettings, config, prefix="multicast_"),
    )


def socket_settings(config: MulticastConfig) -> SocketSettings:
    """The addresses from which multicast is sent and received."""
    # The address to which all other sockets are bound, if multicast can use it.
    usable = config.bind not in ANY_ADDRESS and ":" not in config.bind
    return settings_of(
        SocketSettings,
        config,
        prefix="multicast_",
        interface=config.multicast_interface or (config.bind if usable else ""),
        raw=config.multicast_encapsulation == "raw",
    )


def log_lost(event: Lost) -> None:
    """Log that data was lost permanently; the messages in it are unknown."""
    log_event(MULTICAST_LOST, group=event.group, source=event.source, packets=event.packets)


def log_not_heard(group: IPv4Address, reason: str) -> None:
    """Log that queues receive nothing from a group."""
    log_event(MULTICAST_NOT_HEARD, group=group, reason=reason)
