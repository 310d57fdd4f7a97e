"""The walk: every way is found, from its first file to its last."""

import pytest

from tools import walk

# How many files the page may be off before it must be written again: maintenance that runs during
# each trip over a way counts as part of it.
SLACK = 6


@pytest.fixture(scope="module")
def ways() -> dict[str, walk.Way]:
    return walk.measure()


@pytest.mark.parametrize(
    ("name", "passed"),
    [
        ("from a peer", ("wire/packets/framer.py", "store/file_store.py", "engine/engine.py")),
        ("local send", ("client/blocking/queue.py", "engine/engine.py")),
        ("local transactional receive", ("client/blocking/transaction.py", "engine/engine.py")),
        ("to a peer", ("engine/engine.py", "net/binary/shell.py")),
        ("Spark read", ("spark/source.py", "protocol/local/range_requests.py")),
    ],
)
def test_a_way_passes_the_files_that_it_must(
    ways: dict[str, walk.Way], name: str, passed: tuple[str, ...]
) -> None:
    way = ways[name]
    assert set(passed) <= set(way.files)
    assert way.calls >= len(way.functions) >= len(way.files)


def test_the_table_has_a_line_for_every_way(ways: dict[str, walk.Way]) -> None:
    assert [line.split(" | ")[0] for line in walk.table(ways).splitlines()[2:]] == [
        f"| {name}" for name in walk.WAYS
    ]


def test_the_page_names_about_as_many_files_as_a_message_passes(
    ways: dict[str, walk.Way],
) -> None:
    lines = [line.strip("| ").split(" | ") for line in walk.written_table().splitlines()[2:]]
    off = {
        name: (int(files), len(ways[name].files))
        for name, files, *_ in lines
        if abs(int(files) - len(ways[name].files)) > SLACK
    }
    assert not off, f"python -m tools.walk --write: {off} (written, counted)"
    assert {name for name, *_ in lines} == set(walk.WAYS)


def test_what_does_not_run_every_time_is_not_on_the_way() -> None:
    first = walk.Way(3, [("a.py", "f"), ("timer.py", "fire"), ("b.py", "g")])
    second = walk.Way(2, [("b.py", "g"), ("a.py", "f")])
    assert walk.common([first, second]) == walk.Way(2, [("a.py", "f"), ("b.py", "g")])
