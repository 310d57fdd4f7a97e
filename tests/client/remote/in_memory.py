"""The backend of remote read against a server in memory: no sockets, and time stands still."""

from dataclasses import replace
from typing import Any, TypeVar

from tests.protocol.remote_read.harness import DIRECT, RemoteCase
from tests.protocol.rpc.harness import PORT
from tests.protocol.rpc.harness import Link as ServerLink
from tests.protocol.rpc.mechanism import AUTH_TYPE, FakeContext

from openmsmq.client.operations import Operation, Wait
from openmsmq.client.remote.address import RpcAddress
from openmsmq.client.remote.backend import RemoteBackend
from openmsmq.client.remote.channel import Link, RemoteChannel
from openmsmq.client.remote.handle import RemoteHandle
from openmsmq.protocol.rpc import ClientSecurity, endpoint
from openmsmq.protocol.rpc.interface import Served, ServedInterface
from openmsmq.wire.rpc.status import AuthnLevel

T = TypeVar("T")


class MemoryClient:
    """A client that is connected as alice.

    Attributes:
        made: the names of the calls that the server got, in their order.
    """

    def __init__(self, case: RemoteCase) -> None:
        self.case = case
        self.made: list[str] = []
        case.endpoint = endpoint(PORT, (self._recorded(case.remote.interface),))
        security = ClientSecurity(AUTH_TYPE, AuthnLevel.PKT_PRIVACY, lambda: FakeContext("alice"))
        self.channel = RemoteChannel("the server", security)
        self.backend = RemoteBackend(
            RpcAddress("qm", PORT), lambda: self.case.now, reconnects=False
        )
        self._ends: dict[Link, ServerLink] = {}
        self.run(self.backend.greet(self.channel))

    def _recorded(self, interface: ServedInterface) -> ServedInterface:
        def recorded(served: Served) -> Served:
            def run(call: Any, request: Any) -> None:
                self.made.append(served.call.name)
                served.handler(call, request)

            return replace(served, handler=run)

        operations = {opnum: recorded(each) for opnum, each in interface.operations.items()}
        return replace(interface, operations=operations)

    def move(self) -> None:
        """Move bytes until both sides are silent."""
        moved = True
        while moved:
            moved = False
            while self.channel.new_links:
                self._ends[self.channel.new_links.popleft()] = self.case.link()
            for link, end in list(self._ends.items()):
                sent = link.connection.data_to_send()
                received = end.send(b"".join(sent))
                if sent or received:
                    moved = True
                    self.channel.receive(link, b"".join(received))

    def run(self, operation: Operation[T]) -> T:
        """Run an operation that the server answers at once; what is not answered is over time."""
        try:
            wait: Wait = operation.send(None)
            while True:
                self.move()
                wait = operation.send(self.channel.take(wait.request))
        except StopIteration as end:
            result: T = end.value
            return result

    def open(self, name: str = DIRECT, access: str = "receive") -> RemoteHandle:
        handle = self.run(self.backend.open(name, access, "deny_none"))
        assert isinstance(handle, RemoteHandle)
        return handle
