"""The history on disk: bounded, and searched by message identifier."""

from pathlib import Path
from uuid import UUID

from openmsmq.core.tracing import TraceLog
from openmsmq.service.history import FILES, HistoryFiles
from openmsmq.wire.history_record import RECORD_SIZE, Happening
from openmsmq.wire.scalars import MessageIdentifier

SOURCE = UUID(int=5)


def identifier(ordinal: int) -> bytes:
    return MessageIdentifier(SOURCE, ordinal).serialize()


def events(files: HistoryFiles, ordinal: int) -> list[tuple[str, str, int]]:
    found = files.find(identifier(ordinal))["events"]
    return [(each["event"], each["place"], each["reason"]) for each in found]


def test_what_happened_is_found_by_identifier(tmp_path: Path) -> None:
    trace = TraceLog(enabled=True)
    files = HistoryFiles(tmp_path, 1 << 20, trace)
    trace.utc = 17.0
    trace.note(Happening.ARRIVED, "orders", 100, 10, 0, 50, SOURCE.bytes_le)
    trace.note(Happening.MOVED, "orders;held", 103, 1)
    trace.note(Happening.REMOVED, "orders;held", 103, 1, 0xC002)
    trace.note(Happening.DROPPED, "journal: over the quota", 0, 1, 0, 53, SOURCE.bytes_le)
    files.write()
    assert events(files, 53) == [
        ("arrived", "orders", 0),
        ("moved", "orders;held", 0),
        ("removed", "orders;held", 0xC002),
        ("dropped", "journal: over the quota", 0),
    ]
    assert events(files, 54) == [("arrived", "orders", 0)]
    assert events(files, 60) == []
    assert files.find(identifier(60))["since"] == 17.0
    files.close()


def test_the_oldest_file_goes_when_they_are_full(tmp_path: Path) -> None:
    trace = TraceLog(enabled=True)
    limit = FILES * 10 * RECORD_SIZE
    files = HistoryFiles(tmp_path, limit, trace)
    for number in range(200):
        trace.utc = float(number)
        trace.note(Happening.ARRIVED, "orders", number, 1, 0, number, SOURCE.bytes_le)
        files.write()
    assert len(list(tmp_path.iterdir())) == FILES
    assert (
        sum(path.stat().st_size for path in tmp_path.iterdir()) <= limit + FILES * 2 * RECORD_SIZE
    )
    assert events(files, 0) == []
    # Each file tells the names of places again.
    assert events(files, 199) == [("arrived", "orders", 0)]
    assert files.find(identifier(0))["since"] > 100
    files.close()
    again = HistoryFiles(tmp_path, limit, TraceLog(enabled=True))
    assert events(again, 199) == [("arrived", "orders", 0)]
    again.close()


def test_restarts_keep_the_history(tmp_path: Path) -> None:
    for number in range(FILES * 3):
        trace = TraceLog(enabled=True)
        files = HistoryFiles(tmp_path, 1 << 20, trace)
        trace.note(Happening.ARRIVED, f"orders {number}", number, 1, 0, number, SOURCE.bytes_le)
        files.write()
        assert events(files, 0) == [("arrived", "orders 0", 0)]
        assert events(files, number) == [("arrived", f"orders {number}", 0)]
        files.close()
    assert len(list(tmp_path.iterdir())) == 1


def test_a_record_that_was_cut_off_spoils_no_other(tmp_path: Path) -> None:
    for number in range(3):
        trace = TraceLog(enabled=True)
        files = HistoryFiles(tmp_path, 1 << 20, trace)
        trace.note(Happening.ARRIVED, "orders", number, 1, 0, number, SOURCE.bytes_le)
        files.write()
        assert [events(files, other) for other in range(number)] == [
            [("arrived", "orders", 0)] for _ in range(number)
        ]
        files.close()
        (path,) = tmp_path.iterdir()
        with path.open("ab") as file:
            file.write(b"cut")


def test_a_smaller_limit_removes_what_is_beyond_it(tmp_path: Path) -> None:
    trace = TraceLog(enabled=True)
    files = HistoryFiles(tmp_path, FILES * 100 * RECORD_SIZE, trace)
    for number in range(700):
        trace.note(Happening.ARRIVED, "orders", number, 1, 0, number, SOURCE.bytes_le)
        files.write()
    files.close()
    smaller = 200 * RECORD_SIZE
    HistoryFiles(tmp_path, smaller, TraceLog(enabled=True)).close()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= smaller


def test_without_a_limit_nothing_is_kept(tmp_path: Path) -> None:
    files = HistoryFiles(tmp_path / "none", 0, TraceLog(enabled=False))
    files.write()
    assert files.find(identifier(1)) == {"kept": False, "since": None, "events": []}
    assert not (tmp_path / "none").exists()
    files.close()


def test_a_file_ends_with_the_byte_that_fills_it(tmp_path: Path) -> None:
    def numbers(name: str, spare: int) -> list[str]:
        folder, trace = tmp_path / name, TraceLog(enabled=True)
        folder.mkdir()
        trace.note(Happening.ARRIVED, "orders", 1, 1, 0, 1, SOURCE.bytes_le)
        size = len(trace.take())
        trace.forget_names()
        files = HistoryFiles(folder, FILES * (size + spare), trace)
        trace.note(Happening.ARRIVED, "orders", 1, 1, 0, 1, SOURCE.bytes_le)
        files.write()
        files.close()
        return [path.name[-1] for path in sorted(folder.iterdir())]

    assert numbers("full", 0) == ["1", "2"]
    assert numbers("not full", 1) == ["1"]
