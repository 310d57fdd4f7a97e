"""What a router that cannot read its directory leaves out: the eager one loses express messages."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from tests.core.fake_verifier import SIGNED, FakeVerifier
from tests.directory.memory_file import directory_of
from tests.protocol.binary.routed_network import Routed

from .eager import EagerReceived, EagerReceiver
from .ledger import EXPRESS, RECOVERABLE, Entry, _fault


class Trial:
    """Source 1 sends to router 2 and over it to 3, while the router cannot read its directory."""

    def __init__(self, *, eager: bool) -> None:
        self.routed = routed = Routed(
            {1: "A", 2: "AB*", 3: "B"}, (("AB", 1, (2,)),), verifier=FakeVerifier()
        )
        self.router = router = routed[2]
        self.forgotten: list[str] = []
        for number in (2, 3):
            routed[number].create()
        self.send(2, "first")
        assert router.bodies() == [b"first"]
        if eager:
            router.binary._receiver.__class__ = EagerReceiver
            (connection,) = router.binary._connections.by_number.values()
            received = EagerReceived(self.forgotten.append)
            for counter in ("count", "recoverable", "ready_recoverable", "acked_recoverable"):
                setattr(received, counter, getattr(connection.session.received, counter))
            received.acked = connection.session.received.acked
            connection.session.received = received
        router.qm.state.topology = None
        self._directory = router.qm.state.directory
        router.qm.state.directory, file = directory_of()
        file.online = False

    def send(self, target: int, text: str, *, mode: int = 0, **properties: Any) -> None:
        """Send a message; all that follows from it happens within ten seconds."""
        self.routed.send(1, target, text.encode(), label=text, delivery_mode=mode, **properties)
        self.routed.network.advance(10)

    def send_behind_a_check(self) -> None:
        """Send a message that waits for its check, and others behind it."""
        self.router.checking = False
        self.send(2, "checked", security_header=SIGNED)
        self.send(3, "routed")
        self.send(2, "recoverable", mode=1)
        self.send(2, "last")
        assert self.router.bodies() == [b"first"]
        self.router.checking = True
        self.router.finish_job(0)
        self.routed.network.run()

    def heal(self) -> None:
        """The directory can be read, and everything has come that comes."""
        self.router.qm.state.directory = self._directory
        self.routed.network.advance(100)


def test_a_router_acknowledges_no_express_message_that_it_leaves_out() -> None:
    trial = Trial(eager=False)
    trial.send_behind_a_check()
    trial.heal()
    assert sorted(trial.router.bodies()) == [b"checked", b"first", b"last", b"recoverable"]
    assert trial.routed[3].bodies() == [b"routed"]


def test_an_eager_router_forgets_express_messages_that_it_acknowledged_and_leaves_out() -> None:
    trial = Trial(eager=True)
    trial.send_behind_a_check()
    trial.heal()
    # Neither what it took before nor what its sender keeps until it is on disk.
    assert trial.forgotten == ["routed", "last"]
    assert sorted(trial.router.bodies()) == [b"checked", b"first", b"recoverable"]
    assert trial.routed[3].bodies() == []


def test_an_eager_router_forgets_nothing_that_it_has_not_acknowledged() -> None:
    trial = Trial(eager=True)
    # Nothing waits: it is left out before the next acknowledgment.
    trial.send(3, "routed")
    assert trial.forgotten == []
    trial.heal()
    assert trial.routed[3].bodies() == [b"routed"]


@pytest.mark.parametrize(("kind", "fault"), [(EXPRESS, ""), (RECOVERABLE, "lost")])
def test_only_an_express_message_may_be_forgotten(kind: str, fault: str) -> None:
    node: Any = SimpleNamespace(crashes=[])
    new = partial(Entry, tag="1", kind=kind, source=node, destination=node, queue="", sent=True)
    assert _fault(new(forgotten=True)) == fault
    assert _fault(new()) == "lost"
