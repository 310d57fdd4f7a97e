"""A real RPC server on loopback: endpoint mapper, mgmt and the interface of the tests."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import uvloop
from tests.protocol.rpc.harness import TEST, Case
from tests.security.ntlm.peers import NAMES, find

from openmsmq.net.rpc.shell import RpcShell
from openmsmq.protocol.rpc import Disconnect, Endpoint, RpcServer, RpcSettings, endpoint
from openmsmq.protocol.rpc.endpoint_mapper import Registration, endpoint_mapper
from openmsmq.protocol.rpc.interface import ServedInterface
from openmsmq.protocol.rpc.management import management
from openmsmq.protocol.rpc.server import LoggedOn
from openmsmq.security.kerberos import KerberosAcceptor
from openmsmq.security.packages import acceptors
from openmsmq.wire.codes.endpoints import REMOTE_READ

HOST: Final = "127.0.0.1"
SECONDS: Final = 20.0


class Serving:
    """A server whose host takes a turn after each wake; make it where an event loop runs."""

    def __init__(
        self,
        settings: RpcSettings | None = None,
        *,
        bind: str = HOST,
        interfaces: Sequence[ServedInterface] = (),
        registrations: Sequence[Registration] = (),
        kerberos: KerberosAcceptor | None = None,
    ) -> None:
        self.case = Case()
        self.server = RpcServer(
            settings or RpcSettings(),
            acceptors=acceptors(
                NAMES,
                find,
                random=os.urandom,
                utc=time.time,
                allow_anonymous=True,
                kerberos=kerberos,
            ),
            random_bytes=os.urandom,
        )
        self.ended: list[Disconnect] = []
        self.logons: list[LoggedOn] = []
        self.shell = RpcShell(
            self.server,
            self,
            bind=bind,
            disconnected=lambda event, _: self.ended.append(event),
            logged_on=lambda event: self.logons.append(event),
        )
        self.registrations = list(registrations)
        self.endpoint: Endpoint = endpoint(
            0,
            (
                endpoint_mapper(lambda: self.registrations),
                management({}),
                self.case.interface,
                *interfaces,
            ),
        )
        self._loop = asyncio.get_running_loop()
        self._awake = False

    async def listen(self, port: int = 0) -> int:
        await self.shell.listen(self.endpoint, port, key="a_port")
        port = self.endpoint.port
        self.registrations += [Registration(REMOTE_READ, 2103), Registration(TEST, port)]
        return port

    def tick(self) -> float:
        return time.monotonic()

    def wake(self) -> None:
        if not self._awake:
            self._awake = True
            self._loop.call_soon(self._turn)

    def send_at_once(self, output: Callable[[], None]) -> None:
        output()

    def _turn(self) -> None:
        self._awake = False
        self.shell.turn()


@contextmanager
def in_thread(
    port: int = 0,
    *,
    bind: str = HOST,
    settings: RpcSettings | None = None,
    interfaces: Sequence[ServedInterface] = (),
    registrations: Sequence[Registration] = (),
    kerberos: KerberosAcceptor | None = None,
    logons: list[LoggedOn] | None = None,
) -> Iterator[int]:
    """Serve in a thread of its own, for clients that block; gives the port."""
    started = threading.Event()
    stop: list[asyncio.Event] = []
    loops: list[asyncio.AbstractEventLoop] = []
    ports: list[int] = []

    async def main() -> None:
        serving = Serving(
            settings,
            bind=bind,
            interfaces=interfaces,
            registrations=registrations,
            kerberos=kerberos,
        )
        if logons is not None:
            serving.logons = logons
        try:
            ports.append(await serving.listen(port))
            stop.append(asyncio.Event())
            loops.append(asyncio.get_running_loop())
        finally:
            started.set()
        await stop[0].wait()
        await serving.shell.close()

    thread = threading.Thread(target=lambda: uvloop.run(main()))
    thread.start()
    try:
        assert started.wait(SECONDS)
        yield ports[0]
    finally:
        if loops:
            loops[0].call_soon_threadsafe(stop[0].set)
        thread.join(SECONDS)
