"""The walk: every way is found, from its first file to its last."""

import pytest

from tools import walk


@pytest.fixture(scope="module")
def ways() -> dict[str, walk.Way]:
    return walk.measure()


@pytest.mark.parametrize(
    ("name", "passed"),
    [
        ("from a peer", ("wire/packets/framer.py", "store/file_store.py", "engine/gate.py")),
        ("local send", ("client/blocking/queue.py", "engine/gate.py")),
        ("local transactional receive", ("client/blocking/transaction.py", "engine/gate.py")),
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
