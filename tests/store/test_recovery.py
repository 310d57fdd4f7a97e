"""What a start makes of files that are torn, damaged or gone."""

from pathlib import Path
from random import Random
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.model import (
    DIRECTORY,
    SMALL,
    STORE_ID,
    Model,
    commit,
    deletes,
    held,
    maintain,
    open_store,
    puts,
)
from tests.store.simulated_disk import SimulatedDisk

from openmsmq.store.log_format import (
    FIRST_FRAME,
    FRAME_HEADER_SIZE,
    FrameHeader,
    SegmentHeader,
    tag_of,
)
from openmsmq.store.options import Options
from openmsmq.store.segments import segment_name
from openmsmq.store.snapshot import snapshot_name
from openmsmq.wire.batch import Batch
from openmsmq.wire.errors import StoreError

LOG = DIRECTORY / segment_name(1)


def recovered(disk: SimulatedDisk) -> tuple[Model, list[str]]:
    """What a start shows and what it reports."""
    store = open_store(disk)
    recovery = store.recover()
    return held(store, recovery), [str(finding) for finding in recovery.repaired]


def refused(disk: SimulatedDisk) -> str:
    with pytest.raises(StoreError) as caught:
        open_store(disk).recover()
    return str(caught.value)


class Filled:
    """A store that died with some batches in its first segment; where each of them is."""

    def __init__(self, *batches: Batch) -> None:
        self.disk = SimulatedDisk()
        store = open_store(self.disk)
        store.recover()
        self.offsets: list[int] = []
        self.models = [Model()]
        for batch in batches:
            write = store.begin([batch])
            assert write.placement is not None
            self.offsets.append(write.placement.place.offset)
            store.write(write)
            store.finish(write)
            self.models.append(self.models[-1].copy())
            self.models[-1].apply(batch)
            self.end = write.placement.end.offset
        self.disk = self.disk.kill()


def three_batches() -> Filled:
    return Filled(puts([1, 2]), puts([3], size=900), puts([4, 5]))


def copy_of(disk: SimulatedDisk) -> SimulatedDisk:
    """A disk of its own, to be damaged."""
    return disk.restart(Random(0), keep=1.0)


# Torn tails


def test_a_batch_cut_short_anywhere_is_cut_off_and_reported() -> None:
    whole = three_batches()
    last = whole.offsets[-1]
    contents = bytes(whole.disk.contents(LOG)[last : whole.end])
    written = len(contents.rstrip(b"\0"))
    for length in range(len(contents)):
        disk = copy_of(whole.disk)
        disk.overwrite(LOG, last, contents[:length].ljust(len(contents), b"\0"))
        if length >= written:
            assert recovered(disk) == (whole.models[3], [])
        elif length > written - 8:
            # Too little is missing to tell; disks tear at sectors, so this is no torn write.
            assert "and not by a torn write" in refused(disk)
        else:
            model, repaired = recovered(disk)
            assert model == whole.models[2]
            assert len(repaired) == (1 if length else 0)
            assert all(f"segment-00000001.log at offset {last}: " in text for text in repaired)
            assert all(text.endswith("torn; cut off") for text in repaired)


def test_a_torn_batch_is_replaced_by_zeros_and_reported_once() -> None:
    whole = three_batches()
    last = whole.offsets[-1]
    whole.disk.overwrite(LOG, last + 64, bytes(512))
    assert len(recovered(whole.disk)[1]) == 1
    assert not any(whole.disk.contents(LOG)[last:])
    assert recovered(whole.disk.kill()) == (whole.models[2], [])


def test_a_batch_whose_header_was_not_written_is_cut_off() -> None:
    whole = three_batches()
    last = whole.offsets[-1]
    whole.disk.overwrite(LOG, last, bytes(512 - last % 512))
    model, repaired = recovered(whole.disk)
    assert model == whole.models[2]
    assert repaired == [
        f"segment-00000001.log at offset {last}: the header of a batch is torn; cut off"
    ]


# Damage


def test_a_damaged_batch_before_sound_ones_is_refused_with_file_and_offset() -> None:
    whole = three_batches()
    middle = whole.offsets[1]
    disk = copy_of(whole.disk)
    disk.overwrite(LOG, middle, bytes(whole.offsets[2] - middle))
    assert refused(disk) == (
        f"segment-00000001.log at offset {middle}: batch 2 is damaged; sound batches follow at "
        f"{whole.offsets[2]}"
    )


def test_a_wrong_byte_before_sound_batches_is_refused_even_if_it_looks_torn() -> None:
    whole = three_batches()
    offset = whole.offsets[1] + 300
    whole.disk.overwrite(LOG, offset - offset % 512, bytes(512))
    assert "batch 2 is damaged; sound batches follow" in refused(whole.disk)


def test_a_flipped_bit_in_the_last_batch_is_not_taken_for_a_torn_write() -> None:
    whole = three_batches()
    last = whole.offsets[-1]
    for byte in range(last, whole.end):
        disk = three_batches().disk
        disk.flip(LOG, byte * 8 + byte % 8)
        text = refused(disk)
        assert text.startswith("segment-00000001.log at offset ")
        assert "damaged" in text
        offset = int(text.split("offset ")[1].split(":")[0])
        assert last <= offset <= byte


def test_a_header_that_ends_in_zeros_is_not_torn_when_more_was_written() -> None:
    whole = three_batches()
    last = whole.offsets[-1]
    whole.disk.overwrite(LOG, last + FRAME_HEADER_SIZE - 4, bytes(4))
    assert refused(whole.disk).endswith(f"offset {last}: the header of batch 3 is damaged")


def test_a_refused_start_changes_nothing() -> None:
    whole = three_batches()
    whole.disk.flip(LOG, (whole.offsets[0] + 70) * 8)
    before = {path: bytes(inode.seen) for path, inode in whole.disk.names_seen.items()}
    refused(whole.disk)
    assert {path: bytes(inode.seen) for path, inode in whole.disk.names_seen.items()} == before


def test_zeros_in_the_last_batch_look_torn_unless_an_empty_batch_follows() -> None:
    """The one case that cannot be told apart, and what `wants_write` does about it."""
    zeros = Batch()
    zeros.put(1, b"record", bytes(2000))
    for marked in (False, True):
        disk = SimulatedDisk()
        store = open_store(disk)
        store.recover()
        commit(store, [zeros])
        assert store.wants_write
        if marked:
            commit(store, [])
            assert not store.wants_write
            commit(store, [])
        disk = disk.kill()
        disk.flip(LOG, (FIRST_FRAME + 1000) * 8)
        if marked:
            assert "batch 1 is damaged; sound batches follow" in refused(disk)
        else:
            assert recovered(disk)[0] == Model()


def test_a_batch_of_another_store_or_place_is_refused() -> None:
    whole = three_batches()
    first = bytes(whole.disk.contents(LOG)[whole.offsets[0] : whole.offsets[1]])
    disk = copy_of(whole.disk)
    disk.overwrite(LOG, whole.end, first)
    assert "batch 1 of segment 1 where batch 4 of segment 1 belongs" in refused(disk)


def test_a_batch_longer_than_its_segment_is_refused() -> None:
    whole = three_batches()
    size = whole.offsets[2] + FRAME_HEADER_SIZE
    whole.disk.overwrite(LOG, 0, SegmentHeader(1, STORE_ID, size).serialize())
    whole.disk.cut(LOG, size)
    assert refused(whole.disk).endswith("a batch reaches beyond the end of the segment")


def test_a_segment_that_ends_without_a_roll_is_refused() -> None:
    whole = three_batches()
    size = whole.offsets[2]
    whole.disk.overwrite(LOG, 0, SegmentHeader(1, STORE_ID, size).serialize())
    whole.disk.cut(LOG, size)
    assert refused(whole.disk).endswith("the segment ends without a frame that ends it")


@pytest.mark.parametrize("size", [0, 511, 512, 2000, 4095, 5000])
def test_a_segment_of_the_wrong_length_is_refused(size: int) -> None:
    whole = three_batches()
    whole.disk.cut(LOG, size)
    text = refused(whole.disk)
    assert text.startswith("segment-00000001.log at offset ")
    assert "truncated" in text or "its header says 4096" in text


@pytest.mark.parametrize(
    ("offset", "piece", "reason"),
    [
        (0, b"X", "not a log segment of openmsmq"),
        (8, b"\x02", "format version 2, this program knows 1 only"),
        (12, b"\x02", "the header of the segment is damaged"),
        (500, b"\x01", "the header of the segment is damaged"),
    ],
)
def test_a_segment_header_is_checked(offset: int, piece: bytes, reason: str) -> None:
    whole = three_batches()
    whole.disk.overwrite(LOG, offset, piece)
    assert reason in refused(whole.disk)


def test_a_segment_under_another_number_is_refused() -> None:
    whole = three_batches()
    whole.disk.overwrite(LOG, 0, SegmentHeader(2, STORE_ID, 4096).serialize())
    assert refused(whole.disk) == "segment-00000001.log at offset 0: this is segment 2, renamed"


def test_a_batch_with_sound_checksums_and_wrong_contents_is_refused() -> None:
    whole = three_batches()
    meta = b"too short"
    header = FrameHeader(
        1, tag_of(STORE_ID), 1, 4, 128, len(meta), 0, deletes=5, meta_crc=crc32(meta)
    )
    whole.disk.overwrite(LOG, whole.end, header.serialize() + meta)
    text = refused(whole.disk)
    assert text.startswith(f"segment-00000001.log at offset {whole.end}: ")
    assert "beyond the end" in text


def test_a_segment_of_another_store_is_refused() -> None:
    disk, _ = long_store()
    path = names(disk, "segment-")[-2]
    size = len(disk.contents(path))
    number = int(path.name[8:16])
    disk.overwrite(path, 0, SegmentHeader(number, bytes(16), size).serialize())
    assert refused(disk) == f"{path.name} at offset 0: this segment belongs to another store"


# Several segments and snapshots


def long_store(*, clean: bool = False) -> tuple[SimulatedDisk, Model]:
    """Messages in many segments, old ones gone or moved, at least two snapshots."""
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    model = Model()
    for turn in range(30):
        batch = puts(range(turn * 4, turn * 4 + 4), size=400)
        batch.delete_many(range(turn * 4 - 8, turn * 4 - 6) if turn > 1 else ())
        batch.set_row(1, b"turn", b"%d" % turn)
        commit(store, [batch])
        model.apply(batch)
        maintain(store)
    if clean:
        store.close()
    return disk.kill(), model


def names(disk: SimulatedDisk, prefix: str) -> list[Path]:
    return sorted(path for path in disk.names_seen if path.name.startswith(prefix))


@pytest.mark.parametrize("clean", [False, True])
def test_every_missing_segment_is_noticed(clean: bool) -> None:  # noqa: FBT001 - parametrized
    disk, model = long_store(clean=clean)
    segments = names(disk, "segment-")
    assert len(segments) > 5
    assert recovered(copy_of(disk))[0] == model
    for path in segments[:-1]:
        damaged = copy_of(disk)
        damaged.lose(path)
        assert refused(damaged) == f"{path.name} at offset 0: the file is missing"
    # The last one was prepared and never used.
    damaged = copy_of(disk)
    damaged.lose(segments[-1])
    assert recovered(damaged)[0] == model


def test_a_missing_segment_without_snapshots_is_noticed() -> None:
    disk, _ = long_store()
    for path in names(disk, "snapshot-"):
        disk.lose(path)
    assert names(disk, "segment-")[0].name != segment_name(1)
    assert refused(disk) == (
        "segment-00000001.log at offset 0: the file is missing, and there is no snapshot"
    )


def test_batches_after_the_end_of_the_log_are_noticed() -> None:
    disk, _ = long_store()
    used = names(disk, "segment-")[-3]
    contents = disk.contents(used)
    disk.overwrite(used, FIRST_FRAME, bytes(len(contents) - FIRST_FRAME))
    text = refused(disk)
    assert text.startswith(f"{used.name} at offset ")
    assert "batches follow in segment-" in text or "was durable up to" in text


def test_a_log_shorter_than_its_snapshot_knows_is_refused() -> None:
    """A snapshot that was taken while the log went on knows how far it went."""
    options = Options(segment_size=1 << 16, snapshot_interval=1 << 12, reserve=1024)
    disk = SimulatedDisk()
    store = open_store(disk, options)
    store.recover()
    maintain(store)
    commit(store, [puts([1], size=5000)])
    # The first step of the snapshot; it begins where the log is now.
    step = store.maintain()
    assert step is not None
    end = len(bytes(disk.contents(LOG)).rstrip(b"\0"))
    commit(store, [puts([2])])
    step.run()
    step.finish()
    maintain(store)
    assert store.stats().snapshots == 1
    disk = disk.kill()
    start = -(-end // 64) * 64
    disk.overwrite(LOG, start, bytes((1 << 16) - start))
    with pytest.raises(StoreError) as caught:
        open_store(disk, options).recover()
    assert str(caught.value) == (
        f"segment-00000001.log at offset {start}: the log ends before batch 2, but it was durable "
        "up to batch 2"
    )


def test_a_damaged_snapshot_gives_way_to_the_one_before() -> None:
    disk, model = long_store()
    newest = names(disk, "snapshot-")[-1]
    for byte in range(0, len(disk.contents(newest)), 37):
        damaged = copy_of(disk)
        damaged.flip(newest, byte * 8 + 3)
        if 8 <= byte < 12:
            assert "this program knows 1 only" in refused(damaged)
            continue
        found, repaired = recovered(damaged)
        assert found == model
        assert len(repaired) == 1
        assert repaired[0].startswith(f"{newest.name} at offset ")
        assert repaired[0].endswith("; not used")


def test_a_truncated_or_longer_snapshot_is_not_used() -> None:
    for size in (0, 100, 512, 600, -1, 5):
        disk, model = long_store()
        newest = names(disk, "snapshot-")[-1]
        length = len(disk.contents(newest))
        disk.cut(newest, size if size > 5 or size == 0 else length + size)
        found, repaired = recovered(disk)
        assert found == model
        assert len(repaired) == 1


def test_without_any_sound_snapshot_a_whole_log_is_enough() -> None:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    commit(store, [puts([1, 2])])
    store.close()
    snapshot = DIRECTORY / snapshot_name(1)
    disk.flip(snapshot, 600 * 8)
    found, repaired = recovered(disk)
    assert list(found.messages) == [1, 2]
    assert repaired[0].startswith("snapshot-00000001.idx at offset 512: ")


def test_without_any_sound_snapshot_and_log_the_start_is_refused() -> None:
    disk, _ = long_store()
    for path in names(disk, "snapshot-"):
        disk.flip(path, 600 * 8)
    text = refused(disk)
    assert text.startswith("snapshot-")
    assert text.endswith("and the log is not whole")


def test_damage_to_a_live_message_before_the_snapshot_is_refused() -> None:
    disk, model = long_store(clean=True)
    key = min(model.messages)
    needle = model.messages[key][1]
    for path in names(disk, "segment-"):
        offset = bytes(disk.contents(path)).find(needle)
        if offset >= 0 and key != 0:
            damaged = copy_of(disk)
            damaged.flip(path, (offset + 10) * 8)
            assert refused(damaged) == (
                f"{path.name} at offset {offset}: the packet of message {key} is damaged"
            )
            return
    raise AssertionError("the oldest message is nowhere")


def test_damage_that_is_not_looked_for_at_start_is_found_when_it_is_read() -> None:
    whole = three_batches()
    store = open_store(whole.disk)
    store.recover()
    store.close()
    offset = bytes(whole.disk.contents(LOG)).find(b"packet 3|")
    whole.disk.flip(LOG, offset * 8)
    options = SMALL.__class__(segment_size=4096, reserve=1024, verify_limit=0)
    store = open_store(whole.disk, options)
    assert store.recover().repaired == ()
    assert len(store.read_many([1, 2, 4])) == 3
    with pytest.raises(StoreError, match=f"segment-00000001.log at offset {offset}: the packet"):
        store.read_many([2, 3])


def test_damage_to_what_is_gone_is_reported_and_does_no_harm() -> None:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    commit(store, [puts([1, 2])])
    commit(store, [deletes([1])])
    store.close()
    offset = bytes(disk.contents(LOG)).find(b"packet 1|")
    disk.flip(LOG, offset * 8)
    model, repaired = recovered(disk)
    assert list(model.messages) == [2]
    assert len(repaired) == 1
    assert repaired[0].startswith(f"segment-00000001.log at offset {offset}: ")
    assert repaired[0].endswith("no live message is affected")


def test_zeros_where_dead_batches_were_are_reported_and_do_no_harm() -> None:
    disk = SimulatedDisk()
    store = open_store(disk)
    store.recover()
    commit(store, [puts([1])])
    write = store.begin([puts([2]), deletes([1])])
    store.write(write)
    store.finish(write)
    commit(store, [deletes([1])])
    store.close()
    contents = bytes(disk.contents(LOG)).rstrip(b"\0")
    last = (len(contents) - 1) // 64 * 64
    disk.overwrite(LOG, last - 64, bytes(128))
    model, repaired = recovered(disk)
    assert list(model.messages) == [2]
    assert len(repaired) == 1
    assert repaired[0].endswith("is damaged; no live message is affected")


def test_a_live_segment_that_is_gone_while_the_store_runs_is_a_store_error() -> None:
    disk, model = long_store()
    store = open_store(disk)
    store.recover()
    disk.lose(names(disk, "segment-")[0])
    with pytest.raises(StoreError, match=r"segment-.*\.log at offset \d+: No such file"):
        store.read_many(list(model.messages))


def test_a_prepared_segment_that_is_not_zero_is_made_again() -> None:
    disk, model = long_store(clean=True)
    spare = names(disk, "segment-")[-1]
    disk.flip(spare, 2000 * 8)
    found, repaired = recovered(disk)
    assert found == model
    assert repaired == [
        f"{spare.name} at offset 512: a segment that was never used is not zero; removed"
    ]
    assert spare not in disk.names_seen


def test_leftovers_of_unfinished_files_are_removed() -> None:
    disk, model = long_store()
    for name in ("segment-00000099.new", "snapshot.next", "scratch-7"):
        disk.create(DIRECTORY / name)
    assert recovered(disk)[0] == model
    assert not {"segment-00000099.new", "snapshot.next", "scratch-7"} & set(disk.names(DIRECTORY))


def test_other_files_in_the_directory_are_left_alone() -> None:
    disk, model = long_store()
    for name in ("segment-1.log", "segment-00000001.log.old", "snapshot-x.idx", "notes"):
        disk.create(DIRECTORY / name)
    assert recovered(disk)[0] == model
    assert "segment-1.log" in disk.names(DIRECTORY)


FLIP_CLEAN = long_store(clean=True)
FLIP_KILLED = long_store()


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_a_flipped_bit_anywhere_is_refused_or_reported_and_loses_nothing(
    data: st.DataObject,
) -> None:
    disk, model = FLIP_CLEAN if data.draw(st.booleans(), "clean stop") else FLIP_KILLED
    disk = copy_of(disk)
    older = names(disk, "snapshot-")[:-1]
    paths = [path for path in names(disk, "s") if path.name != "snapshot.next"]
    path = data.draw(st.sampled_from(paths), "file")
    byte = data.draw(st.integers(0, len(disk.contents(path)) - 1), "byte")
    disk.flip(path, byte * 8 + data.draw(st.integers(0, 7), "bit"))
    store = open_store(disk)
    try:
        recovery = store.recover()
    except StoreError as exc:
        refusal = str(exc)
    else:
        assert held(store, recovery) == model
        refusal = "".join(map(str, recovery.repaired))
    # An older snapshot is not read unless it is needed, nor what comes after a segment's log.
    if path not in older and refusal != "":
        assert path.name in refusal
    elif path not in older:
        assert after_the_log(disk, path, byte)


def after_the_log(disk: SimulatedDisk, path: Path, byte: int) -> bool:
    """Whether a byte lies behind the last batch of a full segment."""
    contents = bytearray(disk.contents(path))
    contents[byte] = 0
    return byte >= len(contents.rstrip(b"\0"))
