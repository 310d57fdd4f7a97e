"""A hosted session: the time before each request, and the size of each to the engine."""

from tests.core.harness import ORDERS, START_UTC, USER
from tests.protocol.local.fake_service import FakeService
from tests.service.fake_store import FakeStore
from tests.service.hosted import make_manager

from openmsmq.engine.engine import Engine
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.dispatch import HostedSession
from openmsmq.protocol.local.session import LocalSession


class Case:
    """One client on an engine that carries out up to 200 bytes of requests between writes."""

    def __init__(self) -> None:
        store = FakeStore()
        self.engine = Engine(make_manager(store), store, max_waiting_bytes=200)
        self.now = 1000.0
        self.replies: list[local.AnyReply] = []
        session = LocalSession(
            self.engine.manager,
            FakeService(USER),
            USER,
            lambda _, payload: self.replies.append(local.decode_reply(payload)),
        )
        self.session = HostedSession(self.engine, self.tick, session)
        self.tick()
        self.post(local.Hello(1, local.VERSION))

    def tick(self) -> None:
        self.engine.enter(now=self.now, utc=START_UTC + self.now)

    def post(self, request: local.Request) -> None:
        self.session.receive(local.encode(request))


def test_a_request_is_carried_out_at_its_own_time() -> None:
    case = Case()
    assert case.session.greeted
    case.post(local.CreateQueue(2, ORDERS, {}))
    case.post(local.OpenQueue(3, ORDERS, "receive"))
    case.now = 2000.0
    case.post(local.Receive(4, 1, timeout=5.0))
    assert case.engine.manager.next_timer() == 2005.0
    case.now = 3000.0
    case.session.close()
    assert case.engine.manager.state.now == 3000.0
    assert not case.engine.manager.find_queue(ORDERS).waiting


def test_requests_count_as_waiting_for_the_disk() -> None:
    case = Case()
    case.engine.flush()
    request = local.CreateQueue(2, ORDERS, {"label": "x" * 100})
    case.post(request)
    assert not case.engine.saturated
    case.post(request)
    assert case.engine.saturated
    case.engine.flush()
    assert not case.engine.saturated


def test_a_long_request_is_carried_out_in_steps_at_their_own_time() -> None:
    case = Case()
    case.post(local.ListQueues(2))
    assert case.session.busy
    case.now = 1500.0
    while case.session.busy:
        case.session.step()
    assert case.engine.manager.state.now == 1500.0
    assert isinstance(case.replies[-1], local.Part)


def test_a_client_that_does_not_read_gives_way_until_it_does() -> None:
    case = Case()
    case.post(local.CreateQueue(2, ORDERS, {}))
    case.post(local.OpenQueue(3, ORDERS, "receive"))
    case.post(local.Receive(4, 1, timeout=None))
    (read,) = case.engine.manager.find_queue(ORDERS).waiting
    case.session.pause()
    assert read.paused
    case.now = 1100.0
    case.session.resume()
    assert not read.paused
    assert case.engine.manager.state.now == 1100.0
    case.session.stop()
    assert read.paused
