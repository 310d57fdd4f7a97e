"""What `make fuzz` runs finds what it is there to find."""

from pathlib import Path

import pytest
from tests.fuzz import campaign
from tests.fuzz.giants import giants
from tests.fuzz.seeds import load, seeds
from tests.fuzz.srmp_server import FuzzedServer, example_requests
from tests.fuzz.targets import Target

from openmsmq.wire.errors import MalformedPacket
from tools import fuzz


def accept(data: bytes) -> None:
    """A parser that takes anything."""


def test_mutated_packets_break_no_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    # Time is for `make fuzz` to measure: other tests run beside this one.
    monkeypatch.setattr(campaign, "LIMIT_SECONDS", 60.0)
    report = campaign.run_mutated(3, 500, 700)
    assert report.violations == []
    assert report.inputs == 200
    assert report.accepted > 200
    assert report.process
    assert report.memory_bytes > 1 << 20


def test_inputs_can_go_through_some_parsers_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "LIMIT_SECONDS", 60.0)
    names = [target.name for target in campaign.targets_named(["srmp", "pgm"])]
    assert "SrmpServer" in names
    assert "Pgm" in names
    assert "Bind" not in names
    report = campaign.run_mutated(3, 0, 20, only=("pgm",), through=("pgm",))
    assert 0 < report.accepted <= 20
    with pytest.raises(ValueError, match="no parser has one of these words in its name: nothing"):
        campaign.targets_named(["nothing"])


def test_giants_are_as_large_as_asked() -> None:
    sizes = {name: len(data) for name, data in giants(0x10000)}
    assert max(sizes.values()) < 0x12000
    assert min(sizes.values()) > 0x2000


def test_another_error_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes) -> None:
        if len(data) > 100:
            raise IndexError("too far")
        raise MalformedPacket("field", 0, "reason")

    monkeypatch.setattr(campaign, "TARGETS", (Target("Broken", broken),))
    report = campaign.run_mutated(3, 0, 30)
    assert report.violations
    assert {found.reason for found in report.violations} == {"IndexError: too far"}
    assert all(len(found.data) > 100 for found in report.violations)
    assert report.violations[0].source.startswith("3-")


def test_a_slow_parser_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(data: bytes) -> None:
        sum(range(3_000_000))

    monkeypatch.setattr(campaign, "LIMIT_SECONDS", 0.001)
    monkeypatch.setattr(campaign, "TARGETS", (Target("Fast", accept), Target("Slow", slow)))
    report = campaign.run_mutated(3, 0, 1)
    assert [found.target for found in report.violations] == ["Slow"]
    assert report.slowest_share > 1
    assert report.slowest.startswith("Slow of 3-0: ")


def test_a_hanging_parser_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    def hanging(data: bytes) -> None:
        while True:
            pass

    monkeypatch.setattr(campaign, "HANG_SECONDS", 0.05)
    monkeypatch.setattr(campaign, "TARGETS", (Target("Hanging", hanging),))
    (found,) = campaign.run_mutated(3, 0, 1).violations
    assert found.reason == "does not end"


def test_a_parser_that_needs_much_memory_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(data: bytes) -> None:
        bytes(64 << 20)

    monkeypatch.setattr(campaign, "LIMIT_SECONDS", 60.0)
    monkeypatch.setattr(campaign, "TARGETS", (Target("Greedy", greedy),))
    report = campaign.run_giants(0x10000)
    assert report.inputs == len(report.violations)
    assert "65536 KiB" in report.violations[0].reason


def test_the_limit_grows_with_the_size() -> None:
    target = Target("Fast", accept)
    assert campaign.limit_seconds(target, 10) == campaign.limit_seconds(target, 0x10000) == 0.010
    assert campaign.limit_seconds(target, 0x40000) == pytest.approx(0.040)
    assert campaign.limit_seconds(Target("Patient", accept, slack=10), 1) == pytest.approx(0.1)


def test_saved_inputs_can_be_replayed(tmp_path: Path) -> None:
    path = tmp_path / "input.bin"
    path.write_bytes(b"LIOR")
    report = campaign.run_files([path])
    assert (report.inputs, report.violations) == (1, [])


def test_violations_are_saved_and_make_the_run_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "FOLDER", tmp_path)
    monkeypatch.setattr(fuzz, "ROOT", tmp_path)
    totals = fuzz.Totals()
    totals.add(campaign.Report(inputs=5, process=1, memory_bytes=10))
    assert fuzz.conclude(totals, 1.0) == 0
    found = campaign.Violation("3-7", "SID", "IndexError: too far", b"data")
    totals.add(campaign.Report(inputs=1, violations=[found]))
    assert fuzz.conclude(totals, 1.0) == 1
    assert (tmp_path / "3-7-SID.bin").read_bytes() == b"data"
    assert totals.inputs == 6


@pytest.mark.parametrize(("last", "code"), [(100, 0), (7 << 20, 0), (9 << 20, 1)])
def test_growth_in_memory_makes_the_run_fail(last: int, code: int) -> None:
    totals = fuzz.Totals()
    for held in (99 << 20, *[100] * fuzz.WARM_CHUNKS, last):
        totals.add(campaign.Report(process=1, memory_bytes=held))
    totals.add(campaign.Report(process=2, memory_bytes=1 << 40))
    assert fuzz.conclude(totals, 1.0) == code


def test_no_chunk_is_taken_after_the_deadline() -> None:
    chunks = iter(range(10))
    assert list(fuzz.take(chunks, 3, None)) == [0, 1, 2]
    assert list(fuzz.take(chunks, 3, 0.0)) == []
    assert list(fuzz.take(chunks, 30, None)) == [3, 4, 5, 6, 7, 8, 9]


def test_a_part_of_the_corpus_can_be_mutated_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []
    monkeypatch.setattr(campaign, "LIMIT_SECONDS", 60.0)
    monkeypatch.setattr(campaign, "TARGETS", (Target("Any", seen.append),))
    campaign.run_mutated(3, 0, 40, ("pgm-",))
    assert len(seen) == 40
    assert max(map(len, seen)) < 4_000
    pgm = sorted(data for name, data in seeds() if name.startswith("pgm-"))
    assert sorted(load(("pgm-",))) == pgm


def test_requests_over_http_are_answered_and_none_with_a_server_error() -> None:
    server = FuzzedServer()
    server(example_requests())
    server(example_requests())
    with pytest.raises(MalformedPacket, match="no version of HTTP"):
        server(b"GET")
    with pytest.raises(MalformedPacket, match="404"):
        server(b"POST /other HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
    # A queue manager without room says 500, which the target must notice.
    server._node.qm.set_quotas(messages=0, journals=0)
    with pytest.raises(AssertionError, match="500"):
        server(example_requests().replace(b"uuid:1@", b"uuid:7@"))
