"""Joining a directory."""

import asyncio
import itertools
import os
from pathlib import Path
from uuid import UUID

import pytest
from tests.core.harness import FakeKeys

from openmsmq.core.model.local_queue_manager import LocalQueueManager
from openmsmq.core.queue_manager import QueueManager
from openmsmq.core.settings import MachineIdentity, Provisioning
from openmsmq.directory.interface import DirectoryOperationResult
from openmsmq.directory.objects import ElementType, QueueManagerObject, QueueObject
from openmsmq.engine.engine import Engine
from openmsmq.server.config import Config
from openmsmq.server.process import QueueManagerProcess
from openmsmq.server.provisioning import open_directory, prepare_directory
from openmsmq.service.accounts import caller_of
from openmsmq.store.memory_store import MemoryStore
from openmsmq.wire.codes.algorithms import PROVIDERS
from openmsmq.wire.errors import ConfigError

CALLER = caller_of(os.geteuid(), os.getegid())


class Machine:
    """A queue manager whose store outlives its process; every process would make a new GUID."""

    def __init__(self, name: str = "QM1") -> None:
        self.name = name
        self.store = MemoryStore()
        self._guids = itertools.count(int.from_bytes(name.encode()))
        self.qm: QueueManager

    def prepare(self, path: Path | None) -> Provisioning | None:
        directory = open_directory(path)
        guid = UUID(int=next(self._guids))
        self.qm = QueueManager(
            self.store.recover(None),
            new=LocalQueueManager(QueueManagerObject(guid), directory_integrated=False),
            guids=lambda: UUID(int=next(self._guids) << 64),
            packets=self.store,
            directory=directory,
            now=0,
            utc=0,
        )
        self.engine = Engine(self.qm, self.store)
        return prepare_directory(
            self.engine, directory, path, keys=FakeKeys(), providers=tuple(PROVIDERS.values())
        )

    def start(self, path: Path | None) -> None:
        self.qm_start(self.prepare(path))

    def qm_start(self, provisioning: Provisioning | None) -> None:
        self.qm.start(MachineIdentity(self.name), provisioning)
        self.engine.flush()

    @property
    def identifier(self) -> UUID:
        return self.qm.state.local.identifier


def known(path: Path) -> dict[str, UUID]:
    directory = open_directory(path)
    assert directory is not None
    handle = directory.read_begin(ElementType.QUEUE_MANAGER).query_handle
    found = {}
    while isinstance(item := directory.read_next(handle).directory_object, QueueManagerObject):
        found[item.computer_name] = item.identifier
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "directory.json"


def test_queue_managers_share_a_file_that_the_first_one_makes(path: Path) -> None:
    first, second = Machine(), Machine("QM2")
    first.start(path)
    second.start(path)
    assert known(path) == {"QM1": first.identifier, "QM2": second.identifier}


def test_without_a_file_there_is_nothing_to_join(path: Path) -> None:
    machine = Machine()
    assert machine.prepare(None) is None
    machine.qm_start(None)
    assert not machine.qm.state.local.directory_integrated


def test_a_queue_manager_joins_once_and_stays_what_it_is(path: Path) -> None:
    machine = Machine()
    assert machine.prepare(path) is not None
    machine.qm_start(Provisioning())
    identifier = machine.identifier
    assert machine.prepare(path) is None
    machine.qm_start(None)
    assert machine.identifier == identifier
    assert machine.qm.state.local.directory_integrated


def test_a_workgroup_may_join_later(path: Path) -> None:
    machine = Machine()
    machine.start(None)
    identifier = machine.identifier
    machine.start(path)
    assert known(path) == {"QM1": identifier}
    assert machine.qm.state.local.directory_integrated


def test_a_crash_while_joining_does_not_leave_a_second_one_of_that_name(path: Path) -> None:
    machine = Machine()
    provisioning = machine.prepare(path)
    # The process dies when the directory knows it and its own store does not say so yet.
    machine.qm.start(MachineIdentity("QM1"), provisioning)
    identifier = machine.identifier
    machine.start(path)
    assert machine.identifier == identifier
    assert known(path) == {"QM1": identifier}


def test_a_file_that_goes_missing_later_is_an_offline_directory(path: Path) -> None:
    machine = Machine()
    machine.start(path)
    path.unlink()
    machine.start(path)
    assert machine.qm.state.local.directory_offline
    assert not path.exists()


def test_a_damaged_file_stops_the_start_with_file_and_field(path: Path) -> None:
    path.write_text('{"format": "openmsmq directory", "version": 9}')
    with pytest.raises(ConfigError, match=r"directory.json: version: 9"):
        Machine().prepare(path)


def test_a_file_that_cannot_be_made_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"directory: .*No such file"):
        Machine().prepare(tmp_path / "none" / "directory.json")


def test_a_file_that_cannot_be_read_stops_who_wants_to_join(tmp_path: Path) -> None:
    (tmp_path / "directory.json").mkdir()
    with pytest.raises(ConfigError, match=r"directory: .*Is a directory"):
        Machine().prepare(tmp_path / "directory.json")


def test_a_member_of_a_directory_does_not_start_without_naming_it(path: Path) -> None:
    machine = Machine()
    machine.start(path)
    with pytest.raises(ConfigError, match="directory: this queue manager belongs to a directory"):
        machine.prepare(None)


def test_public_queues_of_a_process_are_in_the_file(path: Path, tmp_path: Path) -> None:
    async def run() -> UUID:
        config = Config(
            data=tmp_path / "data",
            name="QM1",
            directory=path,
            binary_port="off",
            ping_port="off",
            epm_port="off",
            http_port="off",
            console_port="off",
        )
        process = QueueManagerProcess(config, store=MemoryStore())
        await process.start()
        try:
            queue = process.manager.create_queue(r".\orders", caller=CALLER).value
            return queue.properties.identifier
        finally:
            await process.stop()

    (tmp_path / "data").mkdir()
    identifier = asyncio.run(asyncio.wait_for(run(), 30))
    directory = open_directory(path)
    assert directory is not None
    read = directory.read(ElementType.QUEUE)
    assert read.status is DirectoryOperationResult.SUCCESS
    assert isinstance(read.directory_object, QueueObject)
    assert read.directory_object.identifier == identifier
    assert read.directory_object.pathname == r"QM1\orders"
