"""Pings over UDP ([MS-MQQB] 2.1.2)."""

import asyncio
from collections.abc import Callable
from typing import Any, cast


class PingAnswerer(asyncio.DatagramProtocol):
    """Answers the pings of other queue managers."""

    def __init__(self, answer: Callable[[bytes], bytes | None]) -> None:
        self._answer = answer
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        answer = self._answer(data)
        if answer is not None and self._transport is not None:
            self._transport.sendto(answer, addr)


class PingSender(asyncio.DatagramProtocol):
    """Sends pings and reports the answers."""

    def __init__(self, answered: Callable[[bytes], None]) -> None:
        self._answered = answered
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def send(self, datagram: bytes, address: Any) -> None:
        if self._transport is not None:
            self._transport.sendto(datagram, address)

    def datagram_received(self, data: bytes, addr: Any) -> None:  # noqa: ARG002 - asyncio's signature
        self._answered(data)
