"""Queue managers that share a directory, driven by hand."""

from itertools import count
from uuid import UUID

from tests.core.harness import FakeKeys
from tests.directory.memory_file import MemoryFile, directory_of

from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.settings import MachineIdentity, Provisioning, Settings
from openmsmq.core.state import State
from openmsmq.directory.local_directory import LocalDirectory
from openmsmq.directory.objects import DirectoryObject, Enterprise, QueueManagerObject
from openmsmq.engine.engine import Engine
from openmsmq.security.caller import SYSTEM_CALLER, Caller
from openmsmq.security.default_descriptor import default_machine_descriptor
from openmsmq.store.memory_store import MemoryStore

ENTERPRISE = Enterprise(UUID(int=0xE), "corp", non_ldap_capable_queue_manager_notification=True)
QM1, QM2 = UUID(int=0x101), UUID(int=0x102)
START_UTC = 1_700_000_000.0


class Machine:
    """One queue manager with its store; `start` can be repeated and always reads the store."""

    def __init__(
        self,
        file: MemoryFile | None,
        *,
        name: str = "QM1",
        identifier: UUID = QM1,
        own: Caller = SYSTEM_CALLER,
    ) -> None:
        self.file = file
        self.name = name
        self.identifier = identifier
        self.settings = Settings(own=own)
        self.store = MemoryStore()
        self.now = 1000.0
        self.utc = START_UTC
        self._guids = count(identifier.int << 32)
        self.qm = self.load()

    @property
    def state(self) -> State:
        return self.qm.state

    def load(self) -> QueueManager:
        """A queue manager from the store that is not started yet."""
        new = LocalQueueManager(
            QueueManagerObject(
                identifier=self.identifier,
                security=default_machine_descriptor(self.settings.own.sid).serialize(),
            ),
            directory_integrated=self.file is not None,
        )
        self.qm = QueueManager(
            self.store.recover(None),
            new=new,
            guids=lambda: UUID(int=next(self._guids)),
            packets=self.store,
            directory=None if self.file is None else LocalDirectory(self.file.open()),
            settings=self.settings,
            now=self.now,
            utc=self.utc,
        )
        self.engine = Engine(self.qm, self.store)
        return self.qm

    def provision(self, *, site: UUID | None = None, domain: str = "example") -> "Machine":
        """Start for the first time."""
        self.qm.start(MachineIdentity(self.name, domain), Provisioning(FakeKeys(), site))
        return self

    def restart(self, *, domain: str = "example", domain_guid: UUID | None = None) -> None:
        """Stop, and start again from the store."""
        self.flush()
        self.load()
        self.qm.start(MachineIdentity(self.name, domain, domain_guid))

    def flush(self) -> None:
        self.engine.flush()

    def advance(self, seconds: float) -> None:
        self.now += seconds
        self.utc += seconds
        self.qm.handle_timer(now=self.now, utc=self.utc)


def shared_file(*items: DirectoryObject) -> MemoryFile:
    """The file of a directory with an enterprise and these objects."""
    return directory_of(ENTERPRISE, *items)[1]


def reader(file: MemoryFile) -> LocalDirectory:
    """Somebody else who reads the directory."""
    return LocalDirectory(file.open())
