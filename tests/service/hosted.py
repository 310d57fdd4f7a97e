"""A queue manager with a host and a store whose disk does what the test says."""

from uuid import UUID, uuid4

from tests.core.harness import QM_GUID
from tests.service.fake_store import FakeStore

from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.settings import MachineIdentity, Settings
from openmsmq.core.transfer.checks.checks import Verifier
from openmsmq.directory.objects import UNLIMITED, QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.service.host import Host
from openmsmq.store.interface import Store


def make_manager(
    store: Store, settings: Settings | None = None, verifier: Verifier | None = None
) -> QueueManager:
    """A new queue manager over a store."""
    manager = QueueManager(
        store.recover(None),
        new=LocalQueueManager(
            QueueManagerObject(
                identifier=QM_GUID, computer_name="QM", queue_manager_quota=UNLIMITED
            ),
            directory_integrated=False,
        ),
        guids=new_guid,
        packets=store,
        scratch=store.scratch,
        settings=settings,
        verifier=verifier,
        now=0.0,
        utc=1_700_000_000.0,
    )
    manager.start(MachineIdentity("QM"))
    return manager


def new_guid() -> UUID:
    return uuid4()


class Hosted:
    """A host at work; make it inside the loop."""

    def __init__(
        self,
        store: FakeStore | None = None,
        settings: Settings | None = None,
        verifier: Verifier | None = None,
    ) -> None:
        self.store = store or FakeStore()
        self.manager = make_manager(self.store, settings, verifier)
        self.failures: list[Exception] = []
        self.host = Host(Engine(self.manager, self.store), self.store, failed=self.failures.append)
        self.host.tick()
