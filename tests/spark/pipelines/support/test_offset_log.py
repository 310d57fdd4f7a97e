"""What Spark has written into a checkpoint is read."""

import json
from pathlib import Path

from openmsmq.spark.pipelines.archive.manifest import Range
from openmsmq.spark.pipelines.support.offset_log import (
    accepted_losses,
    committed_batches,
    planned_ranges,
    query_id,
)


def offset(checkpoint: Path, batch: int, *gone: str, **queues: tuple[str, int, int]) -> None:
    told = {
        name: {"inc": inc, "base": base, "seq": seq, "n": 2, "h": "ab", "gone": name in gone}
        for name, (inc, base, seq) in queues.items()
    }
    (checkpoint / "offsets").mkdir(exist_ok=True)
    lines = ["v1", "{}", json.dumps({"v": 1, "queues": told})]
    (checkpoint / "offsets" / str(batch)).write_text("\n".join(lines))


def test_the_first_batch_begins_at_the_base(tmp_path: Path) -> None:
    offset(tmp_path, 0, a=("i", 5, 9), empty=("j", 3, 3))
    assert planned_ranges(tmp_path, 0) == [Range("a", "i", 5, 9, 2, "ab")]


def test_a_later_batch_begins_where_the_one_before_ended(tmp_path: Path) -> None:
    offset(tmp_path, 6, a=("i", 5, 9), same=("j", 0, 4), made_again=("k", 0, 7))
    offset(tmp_path, 7, a=("i", 5, 12), same=("j", 0, 4), made_again=("l", 2, 8), new=("m", 1, 3))
    assert planned_ranges(tmp_path, 7) == [
        Range("a", "i", 9, 12, 2, "ab"),
        Range("made_again", "l", 2, 8, 2, "ab"),
        Range("new", "m", 1, 3, 2, "ab"),
    ]


def test_queues_that_are_gone_or_new_again_are_losses_once(tmp_path: Path) -> None:
    offset(tmp_path, 6, a=("i", 5, 9), made_again=("k", 0, 7), left=("x", 0, 1))
    offset(tmp_path, 7, "a", a=("i", 5, 9), made_again=("l", 0, 2), left=("x", 0, 1))
    assert [
        (each.queue, each.incarnation, each.after) for each in accepted_losses(tmp_path, 7)
    ] == [
        ("a", "i", 9),
        ("made_again", "k", 7),
    ]
    # Told before: gone still, or there again as another one.
    offset(tmp_path, 8, "a", a=("i", 5, 9), made_again=("l", 0, 2))
    assert accepted_losses(tmp_path, 8) == []
    offset(tmp_path, 9, a=("j", 0, 1), made_again=("l", 0, 2))
    assert accepted_losses(tmp_path, 9) == []


def test_the_first_batch_has_no_losses(tmp_path: Path) -> None:
    offset(tmp_path, 0, a=("i", 5, 9))
    assert accepted_losses(tmp_path, 0) == []


def test_a_checkpoint_tells_the_query_and_its_commits(tmp_path: Path) -> None:
    assert query_id(tmp_path) is None
    assert committed_batches(tmp_path) == []
    (tmp_path / "metadata").write_text('{"id":"q"}')
    (tmp_path / "commits").mkdir()
    for name in ("0", "11", "2", ".0.crc"):
        (tmp_path / "commits" / name).touch()
    assert query_id(tmp_path) == "q"
    assert committed_batches(tmp_path) == [0, 2, 11]
