"""`store check` sees every byte and changes none."""

from pathlib import Path
from random import Random

import pytest
from tests.store.model import DIRECTORY, commit, deletes, maintain, open_store, puts
from tests.store.simulated_disk import SimulatedDisk

from openmsmq.store.check import check_store
from openmsmq.store.segments import segment_name
from openmsmq.wire.errors import StoreError


def filled(*, clean: bool) -> SimulatedDisk:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    for turn in range(20):
        batch = puts(range(turn * 4, turn * 4 + 4), size=300)
        batch.delete_many(range(turn * 4 - 4, turn * 4 - 1) if turn else ())
        batch.set_row(1, b"turn %d" % (turn % 7), b"%d" % turn)
        commit(store, [batch])
        maintain(store)
    if clean:
        store.close()
    return disk.kill()


def contents(disk: SimulatedDisk) -> dict[Path, bytes]:
    return {path: bytes(inode.seen) for path, inode in disk.names_seen.items()}


@pytest.mark.parametrize("clean", [True, False])
def test_a_sound_store_is_counted(clean: bool) -> None:  # noqa: FBT001 - parametrized
    disk = filled(clean=clean)
    before = contents(disk)
    seen: list[tuple[int, int]] = []
    report = check_store(DIRECTORY, lambda done, total: seen.append((done, total)), files=disk)
    assert report.sound
    assert (report.damage, report.repairable) == ((), ())
    assert report.messages == 23
    assert report.message_bytes == 23 * 300
    assert report.rows == 7
    assert report.snapshots == (3 if clean else 2)
    assert report.segments == 5
    assert report.batches > 10
    assert seen[-1][0] == seen[-1][1]
    assert contents(disk) == before


def test_every_flipped_bit_is_found() -> None:
    disk = filled(clean=False)
    paths = [path for path in contents(disk) if path.suffix in (".log", ".idx")]
    random = Random(7)
    for path in paths:
        for _ in range(12):
            damaged = disk.restart(Random(0), keep=1.0)
            byte = random.randrange(len(damaged.contents(path)))
            damaged.flip(path, byte * 8 + random.randrange(8))
            report = check_store(DIRECTORY, files=damaged)
            found = report.damage + report.repairable
            assert found, f"{path.name} {byte}"
            assert any(finding.file == path.name for finding in found)
            assert not report.sound or report.repairable


def test_a_torn_tail_is_repairable_and_stays_as_it_is() -> None:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    commit(store, [puts([1])])
    write = store.begin([puts([2], size=900)])
    store.write(write)
    assert write.placement is not None
    offset = write.placement.place.offset
    disk = disk.kill()
    disk.overwrite(DIRECTORY / segment_name(1), 1024, bytes(512))
    before = contents(disk)
    report = check_store(DIRECTORY, files=disk)
    assert report.sound
    assert report.messages == 1
    assert [str(finding) for finding in report.repairable] == [
        f"segment-00000001.log at offset {offset}: a batch is torn"
    ]
    assert contents(disk) == before


def test_a_missing_segment_is_damage() -> None:
    disk = filled(clean=True)
    path = sorted(path for path in contents(disk) if path.suffix == ".log")[1]
    disk.lose(path)
    report = check_store(DIRECTORY, files=disk)
    assert [str(finding) for finding in report.damage] == [
        f"{path.name} at offset 0: the file is missing"
    ]
    assert not report.sound


def test_a_torn_batch_in_the_middle_of_the_log_is_damage() -> None:
    disk = filled(clean=False)
    path = sorted(path for path in contents(disk) if path.suffix == ".log")[-3]
    disk.overwrite(path, 1024, bytes(3072))
    report = check_store(DIRECTORY, files=disk)
    assert not report.sound
    assert path.name in {finding.file for finding in report.damage}


def test_an_unknown_version_is_damage() -> None:
    disk = filled(clean=True)
    for path in contents(disk):
        if path.suffix in (".log", ".idx"):
            disk.overwrite(path, 8, b"\x09")
    report = check_store(DIRECTORY, files=disk)
    assert len(report.damage) > 5
    assert all("format version 9" in str(finding) for finding in report.damage)
    assert {finding.offset for finding in report.damage} == {8}


def test_no_store_and_a_store_in_use_are_refused() -> None:
    disk = SimulatedDisk()
    with pytest.raises(StoreError, match="there is no store here"):
        check_store(DIRECTORY, files=disk)
    disk.create(DIRECTORY / "something")
    with pytest.raises(StoreError, match="there is no store here"):
        check_store(DIRECTORY, files=disk)
    store = open_store(disk)
    store.recover()
    commit(store, [deletes([1])])
    with pytest.raises(StoreError, match="is in use by process"):
        check_store(DIRECTORY, files=disk)


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file"):
        check_store(tmp_path / "nowhere")
