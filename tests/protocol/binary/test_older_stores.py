"""Stores and a backup that version 0.1.0 wrote: they open, and the traffic goes on where it was.

ALPHA had received five transactional messages from BETA and taken two, had sent four to BETA, and
had three transactional and two plain ones waiting for it, and one dead letter. See
tests/vectors/stores/README.md.
"""

import tarfile
from pathlib import Path
from typing import Final

import pytest
from tests.protocol.binary.pair import Network, Node

from openmsmq.core.rows.tables import Table
from openmsmq.core.settings import Settings
from openmsmq.core.transfer.transports import Transport
from openmsmq.store.backup import restore_backup
from openmsmq.store.file_store import FileStore
from openmsmq.store.files import RealFiles

VECTORS: Final = Path(__file__).parents[2] / "vectors" / "stores"
ALPHA, BETA = "127.0.0.12", "127.0.0.13"
# Some minutes after the stores were written.
UTC: Final = 1_794_851_700.0
PLAIN: Final = r"private$\plain"


def network_at() -> Network:
    network = Network()
    network.utc = UTC
    return network


def opened(network: Network, name: str, address: str, folder: Path) -> Node:
    store = FileStore(folder, new_store_id=bytes(16))
    settings = Settings(names=frozenset((address,)))
    return network.add(name, address, store=store, core_settings=settings)


@pytest.fixture
def alpha_store(tmp_path: Path) -> Path:
    return unpacked("alpha", tmp_path)


@pytest.fixture
def beta_store(tmp_path: Path) -> Path:
    return unpacked("beta", tmp_path)


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(VECTORS / f"{name}.tar.xz") as archive:
        archive.extractall(folder / name, filter="data")
    return folder / name / "store"


def test_everything_that_was_stored_is_there(alpha_store: Path) -> None:
    alpha = opened(network_at(), "ALPHA", ALPHA, alpha_store)
    assert alpha.bodies() == [b"from beta 2", b"from beta 3", b"from beta 4"]
    assert alpha.bodies(PLAIN) == [b"plain 0", b"plain 1", b"plain 2"]
    journal = alpha.qm.find_queue(r".\private$\orders").journal
    assert journal is not None
    assert [each.body for each in alpha.messages(journal)] == [b"from beta 0", b"from beta 1"]
    assert alpha.deadletters == [b"late"]
    waiting = alpha.outgoing(rf"DIRECT=TCP:{BETA}\private$\orders")
    assert [each.body for each in alpha.messages(waiting)] == [b"waits 0", b"waits 1", b"waits 2"]


def test_streams_go_on_in_both_directions(alpha_store: Path, beta_store: Path) -> None:
    network = network_at()
    alpha = opened(network, "ALPHA", ALPHA, alpha_store)
    beta = opened(network, "BETA", BETA, beta_store)
    network.run()
    network.advance(60)
    before = [b"to beta %d" % number for number in range(4)]
    assert beta.bodies() == [*before, b"waits 0", b"waits 1", b"waits 2"]
    assert beta.bodies(PLAIN) == [b"waits plain 0", b"waits plain 1"]
    beta.send(rf"DIRECT=TCP:{ALPHA}\private$\orders", b"new", tx=True)
    alpha.send(rf"DIRECT=TCP:{BETA}\private$\orders", b"newer", tx=True)
    network.run()
    network.advance(60)
    assert alpha.bodies()[-1] == b"new"
    assert beta.bodies()[-1] == b"newer"
    assert not [queue for queue in alpha.qm.outgoing.queues if queue.count]


def test_streams_are_written_anew(alpha_store: Path) -> None:
    alpha = opened(network_at(), "ALPHA", ALPHA, alpha_store)
    (known,) = alpha.qm.find_queue(r".\private$\orders").incoming.values()
    assert (known.transport, known.sequence_number) == (Transport.BINARY, 5)
    alpha.flush()
    alpha.store.close()
    rows = FileStore(alpha_store, new_store_id=bytes(16)).recover(None).rows
    tables = [table for table, _, _ in rows]
    assert Table.STREAMS_OF_0_1_0 not in tables
    assert {key: value for table, key, value in rows if table == Table.STREAMS} == {
        known.key: known.serialize()
    }


def test_a_restored_backup_goes_on_with_numbers_of_its_own(
    tmp_path: Path, beta_store: Path
) -> None:
    network = network_at()
    restore_backup(RealFiles(), VECTORS / "alpha.backup", tmp_path / "restored", lambda *_: None)
    alpha = opened(network, "ALPHA", ALPHA, tmp_path / "restored")
    beta = opened(network, "BETA", BETA, beta_store)
    alpha.send(rf"DIRECT=TCP:{BETA}\private$\orders", b"after the restore", tx=True)
    network.run()
    network.advance(60)
    assert beta.bodies()[4:] == [b"waits 0", b"waits 1", b"waits 2", b"after the restore"]
