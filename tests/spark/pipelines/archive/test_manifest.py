"""The manifest: what it remembers, and what it notices."""

from dataclasses import replace
from pathlib import Path

import pytest

from openmsmq.spark.pipelines.archive.manifest import (
    BATCH,
    COMPACTION,
    DataFile,
    Loss,
    Manifest,
    Range,
    Step,
    gaps,
    range_name,
)
from openmsmq.spark.pipelines.support.errors import PipelineError


def file(name: str) -> DataFile:
    return DataFile(f"data/{name}", "q", "2026-03-01", 1, 10, "00")


def add(manifest: Manifest, **changes: object) -> Step:
    number = len(manifest.steps)
    fields = {"kind": BATCH, "query": "query", "batch": number} | changes
    step = Step(
        number=number,
        archive="a",
        previous=manifest.last_digest,
        made="2026-03-01T12:00:00+00:00",
        **fields,  # type: ignore[arg-type]  # by name
    )
    manifest.begin(step)
    manifest.finish(step)
    return step


def covered(*bounds: tuple[int, int], incarnation: str = "i") -> list[Range]:
    return [Range("q", incarnation, after, upto, 1, "") for after, upto in bounds]


def test_steps_are_the_same_when_they_are_read_again(tmp_path: Path) -> None:
    manifest = Manifest.load(tmp_path)
    add(manifest, ranges=tuple(covered((0, 5))), files=(file("a"), file("b")))
    add(manifest, kind=COMPACTION, files=(file("c"),), removed=(file("a"),))
    again = Manifest.load(tmp_path)
    assert again.steps == manifest.steps
    assert [each.path for each in again.files()] == ["data/b", "data/c"]
    assert again.removed() == {"data/a"}
    assert again.ends() == {("q", "i"): 5}
    assert again.has_batch("query", 0)
    assert not again.has_batch("another", 0)


def test_a_step_counts_only_when_it_has_ended(tmp_path: Path) -> None:
    manifest = Manifest.load(tmp_path)
    add(manifest)
    begun = Step(1, BATCH, "a", manifest.last_digest, "", query="query", batch=1)
    manifest.begin(begun)
    again = Manifest.load(tmp_path)
    assert len(again.steps) == 1
    assert again.pending() == begun
    again.forget_pending()
    assert again.pending() is None


@pytest.mark.parametrize("lost", [0, 1])
def test_a_document_that_is_gone_is_noticed(tmp_path: Path, lost: int) -> None:
    manifest = Manifest.load(tmp_path)
    for _ in range(3):
        add(manifest)
    manifest.documents()[lost].unlink()
    with pytest.raises(PipelineError, match="is missing"):
        Manifest.load(tmp_path)


def test_a_document_that_was_changed_is_noticed(tmp_path: Path) -> None:
    manifest = Manifest.load(tmp_path)
    add(manifest, ranges=tuple(covered((0, 5))))
    add(manifest)
    first = manifest.documents()[0]
    first.write_text(first.read_text().replace('"upto": 5', '"upto": 6'))
    with pytest.raises(PipelineError, match="was changed"):
        Manifest.load(tmp_path)


@pytest.mark.parametrize("text", ["", "{", '{"v": 2}', '{"v": 1, "ranges": []}', "[]"])
def test_a_document_that_is_none_is_noticed(tmp_path: Path, text: str) -> None:
    manifest = Manifest.load(tmp_path)
    add(manifest)
    manifest.documents()[0].write_text(text)
    with pytest.raises(PipelineError, match="cannot be read"):
        Manifest.load(tmp_path)


def test_ranges_that_follow_each_other_have_no_gaps() -> None:
    assert gaps(covered((0, 5), (5, 9), (9, 12))) == []


def test_what_no_range_covers_is_a_gap() -> None:
    assert gaps(covered((0, 5), (7, 9))) == ["q: nothing covers (5, 7]"]


def test_what_two_ranges_cover_is_told() -> None:
    assert gaps(covered((0, 5), (3, 9))) == ["q: (3, 5] is covered twice"]


def test_a_queue_that_was_created_again_is_a_gap() -> None:
    found = gaps([*covered((0, 5)), *covered((5, 9), incarnation="other")])
    assert found == [
        "q: the queue was created again after sequence 5; what was in it then is unknown"
    ]


def test_a_loss_that_was_accepted_is_no_gap_but_others_are() -> None:
    ranges = [*covered((0, 5)), *covered((0, 9), incarnation="other")]
    lost = Loss("q", covered((0, 5))[0].incarnation, 5, "the queue was created again")
    assert gaps(ranges, [lost]) == []
    for other in (replace(lost, after=3), replace(lost, incarnation="x"), replace(lost, queue="p")):
        assert len(gaps(ranges, [other])) == 1


def test_losses_are_written_down_where_there_are_some() -> None:
    step = Step(0, "batch", "archive", "", "now")
    assert b"losses" not in step.to_json()
    lost = replace(step, losses=(Loss("q", "i", 5, "gone"),))
    assert Step.from_json(lost.to_json()) == lost
    assert Step.from_json(step.to_json()) == step


@pytest.mark.parametrize(
    ("queue", "name"),
    [
        (r"DIRECT=OS:node\private$\q", r"DIRECT=OS:.\private$\q"),
        (r"DIRECT=OS:.\private$\q;journal", r"DIRECT=OS:.\private$\q;journal"),
        (r"DIRECT=TCP:10.0.0.1\private$\q", r"DIRECT=TCP:10.0.0.1\private$\q"),
        ("PUBLIC=1f2a", "PUBLIC=1f2a"),
    ],
)
def test_ranges_do_without_the_name_of_the_computer(queue: str, name: str) -> None:
    assert range_name(queue) == name
