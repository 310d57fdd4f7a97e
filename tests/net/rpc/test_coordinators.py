"""Calls to coordinators over real sockets."""

import asyncio
from typing import Any
from uuid import UUID

from tests.net.rpc.serving import HOST, Serving
from tests.service.loops import run, until

from openmsmq.net.rpc.coordinators import CoordinatorShell
from openmsmq.protocol.coordinator import CoordinatorRequest
from openmsmq.protocol.rpc.interface import Served, serve
from openmsmq.wire.codes.endpoints import COORDINATOR
from openmsmq.wire.rpc_interfaces.coordinator import C_ENLIST, EnlistRequest
from openmsmq.wire.transactions.coordinator_url import CoordinatorUrl

GUID = UUID(int=1)


class Participant:
    """Asks what the test says, and writes down what becomes of it."""

    def __init__(self) -> None:
        self.requests: list[CoordinatorRequest] = []
        self.failures: list[str] = []

    def take_requests(self) -> list[CoordinatorRequest]:
        requests, self.requests = self.requests, []
        return requests

    def next_timer(self) -> None:
        return None

    def failed(self, _number: int, reason: str) -> None:
        self.failures.append(reason)


class Case:
    """A shell with a participant; it is the host and the coordinator, too."""

    def __init__(self) -> None:
        # Any: what the shell uses of them.
        self.participant = Participant()
        participant: Any = self.participant
        here: Any = self
        self.shell = CoordinatorShell(participant, here, here, security=lambda _host: None)

    def next_timer(self) -> None:
        return None

    def tick(self) -> float:
        return 0.0

    def wake(self) -> None:
        pass

    def ask(self, port: int, seconds: float = 10.0, *, host: str = HOST) -> None:
        url, request = CoordinatorUrl(host, port), EnlistRequest(GUID, GUID, GUID)
        self.participant.requests.append(CoordinatorRequest(1, url, C_ENLIST, request, seconds))
        self.shell.turn()


def silent_coordinator() -> tuple[list[object], Any]:
    """A coordinator that notes its calls and answers none."""
    calls: list[object] = []

    def enlist(call: object, _request: object) -> None:
        calls.append(call)

    return calls, serve(COORDINATOR, "coordinator", [Served(C_ENLIST, enlist)])


def test_a_connection_that_could_not_be_made_is_tried_again_by_the_next_call() -> None:
    async def main() -> None:
        count = 0

        def hang_up(_reader: object, writer: asyncio.StreamWriter) -> None:
            nonlocal count
            count += 1
            writer.close()

        case = Case()
        server = await asyncio.start_server(hang_up, HOST, 0)
        for number in (1, 2):
            case.ask(server.sockets[0].getsockname()[1])
            await until(lambda number=number: len(case.participant.failures) == number)  # type: ignore[misc]
        await case.shell.close()
        server.close()
        assert count == 2

    run(main)


def test_a_host_name_that_cannot_be_encoded_fails_the_call() -> None:
    async def main() -> None:
        case = Case()
        case.ask(2103, host="a" * 64)
        await until(lambda: bool(case.participant.failures))
        await case.shell.close()
        (reason,) = case.participant.failures
        assert "is no host name" in reason

    run(main)


def test_a_connection_that_fails_after_its_call_timed_out_is_made_again_by_the_next_call() -> None:
    async def main() -> None:
        accepted: list[asyncio.StreamWriter] = []
        case = Case()
        # It never answers the bind.
        server = await asyncio.start_server(lambda _, writer: accepted.append(writer), HOST, 0)
        try:
            for number in (1, 2):
                case.ask(server.sockets[0].getsockname()[1], 0.05)
                await until(lambda number=number: len(case.participant.failures) == number)  # type: ignore[misc]
                assert len(accepted) == number
                accepted[-1].close()
                # Until the client has seen it.
                await asyncio.sleep(0.1)
        finally:
            await case.shell.close()
            server.close()
        assert set(case.participant.failures) == {"no answer within 0.05 seconds"}

    run(main)


def test_a_connection_that_is_lost_after_its_call_timed_out_is_made_again_by_the_next_call() -> (
    None
):
    async def main() -> None:
        calls, interface = silent_coordinator()
        case = Case()
        serving = Serving(interfaces=(interface,))
        port = await serving.listen()
        case.ask(port, 0.2)
        await until(lambda: len(case.participant.failures) == 1)
        assert len(calls) == 1
        await serving.shell.close()
        (opening,) = case.shell._channels.values()
        await until(lambda: not opening.result().is_open)
        again = Serving(interfaces=(interface,))
        await again.listen(port)
        case.ask(port, 0.2)
        await until(lambda: len(case.participant.failures) == 2)
        await case.shell.close()
        await again.shell.close()
        assert len(calls) == 2
        assert set(case.participant.failures) == {"no answer within 0.2 seconds"}

    run(main)


def test_a_connection_that_is_lost_is_made_again_by_the_next_call() -> None:
    async def main() -> None:
        calls, interface = silent_coordinator()
        case = Case()
        serving = Serving(interfaces=(interface,))
        port = await serving.listen()
        case.ask(port)
        await until(lambda: len(calls) == 1)
        await serving.shell.close()
        await until(lambda: len(case.participant.failures) == 1)
        again = Serving(interfaces=(interface,))
        await again.listen(port)
        case.ask(port)
        await until(lambda: len(calls) == 2 or len(case.participant.failures) == 2)
        await case.shell.close()
        await again.shell.close()
        assert len(calls) == 2

    run(main)
