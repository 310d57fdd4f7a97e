"""Clients that break the protocol, and a fault of the queue manager itself."""

import logging
import os
import random
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from tests.server.parts.local.filling import ORDERS, fill, logged
from tests.server.raw_client import RawClient, bodies
from tests.server.threaded import Threaded

from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.framing import frame
from openmsmq.security.caller import unix_user_sid
from openmsmq.security.principals import describe_principal
from openmsmq.service.accounts import UnixAccounts


def hostile_streams() -> Iterator[bytes]:
    chance = random.Random(20)
    hello = frame(local.encode(local.Hello(1, local.VERSION)))
    good = frame(local.encode(local.ListQueues(2)))
    yield b""
    yield b"\0"
    yield b"GET / HTTP/1.1\r\n\r\n"
    yield good
    yield hello + b"\xff\xff\xff\x7f"
    yield hello[:-1]
    yield hello + hello
    yield hello + frame(b"")
    yield hello + frame(b"\x90")
    yield hello + frame(b"\xdd\xff\xff\xff\xff")
    for _ in range(60):
        yield hello + frame(chance.randbytes(chance.randrange(40)))
        broken = bytearray(good)
        broken[chance.randrange(len(broken))] = chance.randrange(256)
        yield hello + bytes(broken) * 3
        yield hello + good[: chance.randrange(len(good))]


def test_a_hostile_client_costs_itself_only(running: Threaded, client: RawClient) -> None:
    fill(client, b"kept")
    for stream in hostile_streams():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.connect(str(running.config.socket_path))
            with suppress(BrokenPipeError):
                sock.sendall(stream)
    deadline = time.monotonic() + 20
    counters: dict[str, int] = {}
    while counters.get("faulty", 0) < 100 and time.monotonic() < deadline:
        counters = client.value(local.GetStatus(client.next_id()))["client_counters"]
    assert counters["faulty"] >= 100
    assert "crashed" not in counters
    assert bodies(client.receive(client.open(ORDERS), count=9)) == [b"kept"]


def test_a_fault_of_ours_costs_one_client_and_is_logged_with_its_trace(
    running: Threaded, client: RawClient, caplog: pytest.LogCaptureFixture
) -> None:
    fill(client, b"kept")

    def broken() -> dict[str, Any]:
        raise ZeroDivisionError("inside")

    running.call(lambda: setattr(running.process, "process_info", broken))
    with running.connect() as other, caplog.at_level(logging.ERROR, "openmsmq"):
        with pytest.raises(ConnectionError):
            other.value(local.GetStatus(other.next_id()))
        assert bodies(client.receive(client.open(ORDERS))) == [b"kept"]
    (record,) = [each for each in caplog.records if getattr(each, "event", "") == "M0024"]
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError


def test_a_client_that_breaks_the_protocol_is_named(
    running: Threaded, caplog: pytest.LogCaptureFixture
) -> None:
    with RawClient.connect(running.config.socket_path, hello=False) as client:
        client.sock.sendall(frame(b"nonsense"))
        assert client.hung_up()
    (told,) = logged(caplog, "M0022")
    assert told["peer"] == describe_principal(unix_user_sid(os.geteuid()), UnixAccounts())
