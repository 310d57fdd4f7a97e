"""The part that sends and receives by multicast: its settings, and what it says of itself."""

import logging
import time
from dataclasses import fields
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from tests.interop.loopback import new_address
from tests.interop.test_multicast import OFF

import openmsmq
from openmsmq.net.pgm.sockets import SocketSettings, own_address, payload_of
from openmsmq.protocol.multicast.events import Lost
from openmsmq.protocol.multicast.settings import MulticastSettings
from openmsmq.server.config import Config
from openmsmq.server.parts.multicast import (
    log_lost,
    log_not_heard,
    multicast_settings,
    socket_settings,
)
from openmsmq.wire.errors import ConfigError


def configured(folder: Path, **settings: Any) -> Config:
    return Config.load(None, {"data": folder, **settings})


def test_the_defaults_are_those_of_windows(tmp_path: Path) -> None:
    config = configured(tmp_path)
    assert (config.multicast, config.multicast_encapsulation) == (True, "raw")
    settings = multicast_settings(config)
    default = MulticastSettings()
    for each in fields(MulticastSettings):
        if each.name not in ("source", "receiver"):
            assert getattr(settings, each.name) == getattr(default, each.name)
    assert settings.receiver == default.receiver
    assert (settings.source.txw_max_rte, settings.source.txw_secs) == (70_000.0, 300.0)
    assert socket_settings(config) == SocketSettings(
        interface="127.0.0.1", raw=True, udp_port=3056, udp_unicast_port=3055, ttl=16
    )


@pytest.mark.spec("MQSRM-2.1.3.1-12")
def test_every_setting_reaches_its_place(tmp_path: Path) -> None:
    config = configured(
        tmp_path,
        multicast_encapsulation="udp",
        multicast_interface="127.0.0.9",
        multicast_udp_port=1,
        multicast_udp_unicast_port=2,
        multicast_ttl=3,
        multicast_rate=4_000.0,
        multicast_window_seconds=5.0,
        multicast_packet_bytes=600,
        multicast_retry_seconds=7.0,
        multicast_idle_seconds=8.0,
        multicast_session_seconds=90.0,
        multicast_max_destinations=10,
        multicast_max_groups=11,
        multicast_max_sources=12,
        multicast_max_buffered_bytes=200_000,
        multicast_max_partial_bytes=300_000,
    )
    settings = multicast_settings(config)
    source, receiver = settings.source, settings.receiver
    assert (source.txw_max_rte, source.txw_secs, source.max_packet_bytes) == (4_000.0, 5.0, 600)
    assert (receiver.session_seconds, receiver.max_sources) == (90.0, 12)
    assert receiver.max_buffered_bytes == 200_000
    assert (settings.retry_seconds, settings.idle_seconds) == (7.0, 8.0)
    assert (settings.max_destinations, settings.max_groups) == (10, 11)
    assert settings.max_partial_bytes == 300_000
    assert socket_settings(config) == SocketSettings(
        interface="127.0.0.9", raw=False, udp_port=1, udp_unicast_port=2, ttl=3
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("multicast", "perhaps"),
        ("multicast_encapsulation", "tcp"),
        ("multicast_interface", "eth0"),
        ("multicast_udp_port", 0),
        ("multicast_udp_unicast_port", 65_536),
        ("multicast_ttl", 256),
        ("multicast_rate", 10.0),
        ("multicast_rate", 1e9),
        ("multicast_window_seconds", 0.5),
        ("multicast_packet_bytes", 100),
        ("multicast_retry_seconds", 0.0),
        ("multicast_idle_seconds", 0.0),
        ("multicast_session_seconds", 1.0),
        ("multicast_max_destinations", 0),
        ("multicast_max_groups", 0),
        ("multicast_max_sources", 0),
        ("multicast_max_buffered_bytes", 1),
        ("multicast_max_partial_bytes", 1),
    ],
)
def test_a_value_out_of_its_limits_is_refused(tmp_path: Path, key: str, value: object) -> None:
    with pytest.raises(ConfigError, match=key):
        configured(tmp_path, **{key: value})


@pytest.mark.parametrize("bind", ["0.0.0.0", "::1"])  # noqa: S104 - nothing listens
def test_without_one_ipv4_address_the_system_chooses_the_interface(
    tmp_path: Path, bind: str
) -> None:
    assert socket_settings(configured(tmp_path, bind=bind)).interface == ""


def test_the_systems_route_is_asked_without_an_interface() -> None:
    settings = SocketSettings(interface="", raw=False, udp_port=1, udp_unicast_port=2, ttl=1)
    try:
        found = own_address(settings)
    except OSError:
        pytest.skip("this machine has no route for multicast")
    assert not found.is_multicast


def test_the_ip_header_of_a_raw_packet_is_taken_off() -> None:
    assert payload_of(b"\x46" + bytes(23) + b"packet", raw=True) == b"packet"
    assert payload_of(b"", raw=True) == b""
    assert payload_of(b"packet", raw=False) == b"packet"


def test_an_interface_that_is_not_there_is_one_line_and_no_fault(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "openmsmq")
    settings: dict[str, Any] = {"multicast_encapsulation": "udp", **OFF}
    with openmsmq.embedded(
        tmp_path, bind=new_address(), multicast_interface="192.0.2.1", **settings
    ) as manager:
        manager.create_queue(r".\private$\one", multicast="239.1.1.1:8001")
        manager.send("MULTICAST=239.1.1.1:8001", openmsmq.Message("waits"))
        deadline = time.monotonic() + 20.0
        while "192.0.2.1" not in manager.outgoing()[0]["reason"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        (outgoing,) = manager.outgoing()
    assert "192.0.2.1 is not an address of this machine" in outgoing["reason"]
    events = [vars(record).get("event") for record in caplog.records]
    assert events.count("M0080") == 1
    assert "M0082" in events


def test_losses_and_groups_that_are_not_heard_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "openmsmq")
    log_lost(Lost("239.1.1.1:8001", "10.0.0.1", 3))
    log_not_heard(IPv4Address("239.1.1.1"), "no")
    assert [vars(record)["event"] for record in caplog.records] == ["M0081", "M0082"]
