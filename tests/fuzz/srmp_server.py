"""A queue manager that takes requests over HTTP, as a target: it answers none with a 5xx."""

from typing import Final

from tests.core.harness import START_UTC
from tests.protocol.srmp.naive import envelope, post, services, stream
from tests.protocol.srmp.web import Node, Web

from openmsmq.wire.errors import MalformedPacket

NAME: Final = "fuzz"
PLAIN: Final = f"http://{NAME}/msmq/private$/orders"
ORDERED: Final = f"http://{NAME}/msmq/private$/ordered"
RECEIPTS: Final = f"http://{NAME}/msmq/private$/receipts"
# A machine is used so often, then another one takes its place.
USES: Final = 200
SERVER_FAULT: Final = 5


def example_requests() -> bytes:
    """Requests that are accepted: plain ones with receipts, and a stream."""
    asked = services(durable=True, delivery=RECEIPTS, commitment=RECEIPTS)
    texts = [
        envelope(PLAIN, utc=START_UTC, number=number, entries=asked, life=1e7) for number in (1, 2)
    ]
    texts += [
        envelope(
            ORDERED,
            utc=START_UTC,
            number=10 + number,
            entries=stream(number, previous=number - 1, receipts=RECEIPTS * (number == 1)),
            life=1e7,
        )
        for number in range(1, 7)
    ]
    return b"".join(post(text, b"body %d" % number) for number, text in enumerate(texts))


class FuzzedServer:
    """Gives requests to a machine, each on a connection of its own."""

    def __init__(self) -> None:
        self._uses = 0
        self._web: Web
        self._node: Node

    def _begin(self) -> None:
        self._web = Web()
        self._node = self._web.node(NAME)
        for name in ("orders", "ordered", "receipts"):
            self._node.create(rf".\private$\{name}", transactional=name == "ordered")
        self._web.run()

    def __call__(self, data: bytes) -> None:
        """Post what may be requests.

        Raises:
            MalformedPacket: it is nothing like a request, or was refused.
        """
        if b"HTTP/1." not in data:
            raise MalformedPacket("request", 0, "no version of HTTP")
        if self._uses % USES == 0:
            self._begin()
        self._uses += 1
        web, node = self._web, self._node
        number = web.knock(node, data)
        web.run()
        answers = web.hear(node, number)
        node.http.connection_lost(number)
        web.run()
        statuses = [int(part[:3]) for part in answers.split(b"HTTP/1.1 ")[1:]]
        if any(status // 100 == SERVER_FAULT for status in statuses):
            raise AssertionError(f"answered with {statuses}")
        if set(statuses) != {200}:
            raise MalformedPacket("request", 0, f"answered with {statuses}")


serve_srmp: Final = FuzzedServer()
