"""Mutants: where they are, what they are called, and what becomes of them."""

import ast
import marshal
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest
from tools.mutants import mutant as mutant_module
from tools.mutants import recording as recording_module
from tools.mutants.ledger import Ledger, read_equivalent, stale
from tools.mutants.mutant import PACKAGES, RECORDED, Identity, Mutant, draw, source_files
from tools.mutants.recording import Recording, Session, followed
from tools.mutants.report import Figures, enter, page
from tools.mutants.sites import changed, find_sites, variants
from tools.mutants.trial import SITE, Outcome, Trial, Verdict, nearness, stages


def changes(text: str) -> list[str]:
    """The lines that each mutant of a function has in the place of its own."""
    tree = ast.parse(dedent(text))
    nodes = list(ast.walk(tree))
    before = ast.unparse(tree).splitlines()
    lines = []
    for site in find_sites(tree):
        for variant in range(len(list(variants(nodes[site.node])))):
            after = ast.unparse(changed(tree, site, variant)).splitlines()
            lines += [new.strip() for old, new in zip(before, after, strict=True) if old != new]
    return lines


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("return a == b", ["return a != b"]),
        ("return a < b", ["return a <= b", "return a >= b"]),
        (
            "return a <= b < c",
            [
                *("return a < b < c", "return a > b < c"),
                *("return a <= b <= c", "return a <= b >= c"),
            ],
        ),
        ("return a is None", ["return a is not None"]),
        ("return a not in b", ["return a in b"]),
        ("return a and b", ["return a or b"]),
        ("return not a", ["return a"]),
        ("return a if b else c", ["return a if not b else c"]),
        ("return a + 7", ["return a - 7", "return a + 8", "return a + 6"]),
        ("a <<= b", []),
        ("return a | b", ["return a & b"]),
        ("a = True", ["a = False"]),
        ("a = b'x'", ["a = b'xX'"]),
        ("a = 'x'", ["a = 'xX'"]),
        ("a.b(c)", ["pass"]),
        ("await a(b)", ["pass"]),
        ("a = f(b, c, k=d)", ["a = f(c, b, k=d)"]),
        ("a = f(b, b)", []),
        ("a = f(*b, c)", []),
    ],
)
def test_a_statement_becomes(statement: str, expected: list[str]) -> None:
    assert changes(f"async def f(a, b, c):\n    {statement}\n") == expected


@pytest.mark.parametrize(
    "text",
    [
        "A = 1 + 1\n",
        "class A:\n    size = 1\n",
        "def f(a: int = 1) -> 'int':\n    '''One.'''\n    b: 'int'\n",
        "@cache(1)\ndef f(a):\n    return a\n",
        "def f(a):\n    raise ValueError('text', 1)\n",
        "def f(a):\n    a.log_event('said', 1)\n",
        "def f(a):\n    return f'{a + 1}'\n",
        "def f(a):\n    return cast('A', a)\n",
        "def f(a):\n    return a.read('Field')\n",
    ],
)
def test_what_is_no_body_or_only_text_is_left_alone(text: str) -> None:
    assert changes(text) == []


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of src/openmsmq."""
    for module in (mutant_module, recording_module):
        monkeypatch.setattr(module, "SOURCES", tmp_path)
        monkeypatch.setattr(module, "ROOT", tmp_path)
    (tmp_path / "wire").mkdir()
    return tmp_path


def mutants_of(sources: Path, text: str, *, number: int = 1000, seed: int = 1) -> list[Mutant]:
    (sources / "wire" / "a.py").write_text(dedent(text))
    return draw(source_files(["wire"]), number, seed)


TWICE = """
    def f(a):
        if a > 1:
            return a > 1
        return a > 1
"""


def test_equal_changes_of_a_function_are_numbered(sources: Path) -> None:
    drawn = {mutant.identity for mutant in mutants_of(sources, TWICE)}
    returned = {each.occurrence for each in drawn if each.after.startswith("return a >= 1")}
    assert returned <= {1, 2}
    assert len(drawn) == 6


def test_a_seed_draws_the_same_mutants_again_and_another_draws_others(sources: Path) -> None:
    text = "def f(a):\n" + "".join(f"    a.do_{number}(a)\n" for number in range(50))
    ten = mutants_of(sources, text, number=10)
    assert ten == mutants_of(sources, text, number=10)
    assert len(ten) == 10
    assert ten != mutants_of(sources, text, number=10, seed=2)
    assert ten == mutants_of(sources, text, number=20)[:10]


def test_code_elsewhere_does_not_change_what_is_drawn(sources: Path) -> None:
    text = "def f(a):\n" + "".join(f"    a.do_{number}(a)\n" for number in range(50))
    before = [each.identity for each in mutants_of(sources, text, number=10)]
    (sources / "wire" / "0.py").write_text("def g(a):\n    a.run(1)\n")
    after = [each.identity for each in mutants_of(sources, f"\n\n{text}", number=12)]
    assert len(set(before) & set(after)) >= 8


def test_a_folder_that_is_not_there_is_said(sources: Path) -> None:
    with pytest.raises(SystemExit, match="core does not exist"):
        source_files(["core"])


def test_the_packages_have_thousands_of_sites() -> None:
    assert len(draw(source_files(PACKAGES), 5000, 1)) == 5000


def test_the_changed_module_is_loaded_here_and_in_started_processes(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text("def sign():\n    return 1\n")
    (tmp_path / "code").write_bytes(
        marshal.dumps(compile("def sign():\n    return 2\n", "small.py", "exec"))
    )
    environ = {
        **os.environ,
        "PYTHONPATH": f"{SITE}:{tmp_path}",
        "OPENMSMQ_MUTANT": "small",
        "OPENMSMQ_MUTANT_FILE": str(tmp_path / "small.py"),
        "OPENMSMQ_MUTANT_CODE": str(tmp_path / "code"),
    }
    text = "import small, subprocess, sys\nprint(small.sign(), small.__file__, flush=True)\n"
    inner = "import small; print(small.sign())"
    text += f"subprocess.run([sys.executable, '-c', {inner!r}], check=True)\n"
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == f"2 {tmp_path / 'small.py'}\n2\n"
    assert "return 1" in (tmp_path / "small.py").read_text()


def test_lines_are_followed_to_where_they_were() -> None:
    old = ["a", "b", "c", "d"]
    assert followed(old, old) == {1: [1], 2: [2], 3: [3], 4: [4]}
    new = ["new", "a", "B", "B2", "c", "d"]
    assert followed(old, new) == {1: [0], 2: [1], 3: [2], 4: [2], 5: [3], 6: [4]}


PING = Mutant(
    Identity("wire/packets/ping.py", "Ping.parse", "", "", 1),
    find_sites(ast.parse("def f(a):\n    return a == 1\n"))[0],
    0,
)


def test_the_nearest_and_fastest_tests_run_first() -> None:
    assert nearness("wire/packets/ping.py", "tests/wire/packets/test_ping.py") == 0
    assert nearness("wire/packets/ping.py", "tests/wire/packets/test_ping_flags.py") == 1
    assert nearness("wire/packets/ping.py", "tests/wire/packets/test_framer.py") == 2
    assert nearness("protocol/binary/ping.py", "tests/protocol/local/test_framing.py") == 2
    assert nearness("wire/packets/ping.py", "tests/core/test_ping.py") == 3
    seconds = {
        "tests/wire/packets/test_ping.py::test_slow": 2.0,
        "tests/wire/packets/test_ping.py::test_fast": 0.1,
        "tests/wire/packets/test_framer.py::test_a": 0.01,
        "tests/core/test_ping.py::test_b": 0.01,
    }
    first, second = stages(PING, seconds, seconds)
    assert first == [
        "tests/wire/packets/test_ping.py::test_fast",
        "tests/wire/packets/test_ping.py::test_slow",
        "tests/wire/packets/test_framer.py::test_a",
    ]
    assert second == ["tests/core/test_ping.py::test_b"]


def recorded(folder: Path, *tests: str) -> Recording:
    """A recording in which each of these tests took a second."""
    recording = Recording(folder)
    files = dict.fromkeys((test.partition("::")[0] for test in tests), "digest")
    recording._take(Session("one", "s", files, dict.fromkeys(tests, 1.0)))
    return recording


def trial_of_ping(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *tests: str
) -> tuple[Mutant, Outcome]:
    """Try a mutant that takes only wrong signatures, with some tests that are said to reach it."""
    drawn = draw(source_files(["wire/packets/ping.py"]), 1000, 1)
    (mutant,) = [each for each in drawn if each.identity.after == "signature == PING_SIGNATURE"]
    recording = recorded(folder, *tests)
    monkeypatch.setattr(recording, "tests_of", lambda *_: set(tests))
    # It was made long ago and waited for its turn, which takes nothing from its time.
    with monkeypatch.context() as long_ago:
        long_ago.setattr("tools.mutants.trial.time.monotonic", lambda: 0.0)
        trial = Trial(mutant, recording)
    return mutant, trial.run()


def test_a_mutant_that_no_test_reaches_is_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trial_of_ping(tmp_path, monkeypatch)[1] == Outcome(Verdict.UNREACHED)


def test_a_mutant_is_caught_by_the_first_test_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    caught_by = "tests/wire/packets/test_ping.py::test_layout"
    blind = "tests/wire/security/test_sid.py::test_sid_of_the_user_message_example"
    mutant, outcome = trial_of_ping(tmp_path, monkeypatch, caught_by, blind)
    assert (outcome.verdict, outcome.test) == (Verdict.CAUGHT, caught_by)
    # The file itself is as it was.
    assert "signature != PING_SIGNATURE" in mutant.path.read_text()


def test_a_mutant_that_no_test_notices_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, outcome = trial_of_ping(
        tmp_path,
        monkeypatch,
        "tests/wire/security/test_sid.py::test_sid_of_the_user_message_example",
    )
    assert (outcome.verdict, outcome.tests) == (Verdict.SURVIVED, 1)


def test_a_run_of_the_module_as_it_is_ends_everything(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"openmsmq\.wire\.packets\.ping as it is"):
        Trial(PING, Recording(tmp_path))._judge(0, [("unchanged", PING.module, 0.0)], tmp_path)


@pytest.mark.parametrize(
    ("code", "events", "verdict"),
    [
        (0, [("began", 0)], Verdict.SURVIVED),
        (1, [("began", 0), ("failed", 0)], Verdict.CAUGHT),
        (1, [("began", 0), ("timeout", 0)], Verdict.TIMEOUT),
        (2, [("failed", 0)], Verdict.CAUGHT),
        # Killed by the system, for instance because memory was short.
        (-9, [("began", 0)], Verdict.CAUGHT),
        (5, [], Verdict.SURVIVED),
        # The time of the mutant is over, and a test of one second has run for two or for a hundred.
        (None, [("began", 2)], Verdict.UNDECIDED),
        (None, [("began", 100)], Verdict.TIMEOUT),
        (None, [], Verdict.UNDECIDED),
    ],
)
def test_what_a_run_says(
    tmp_path: Path, code: int | None, events: list[tuple[str, int]], verdict: Verdict
) -> None:
    trial = Trial(PING, recorded(tmp_path, "tests/a.py::test_a"))
    told = [(word, "tests/a.py::test_a", time.time() - age) for word, age in events]
    assert trial._judge(code, told, tmp_path).verdict is verdict


def test_a_run_that_does_not_start_is_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("no such file")
    with pytest.raises(SystemExit, match="no such file"):
        Trial(PING, Recording(tmp_path))._judge(4, [], tmp_path)


def test_a_recorded_file_is_recorded_again_when_it_changed(tmp_path: Path) -> None:
    recording = Recording(tmp_path)
    recording._take(Session("one", "s", {"a": "1", "b": "1"}, {"a::x": 1.0, "b::y": 2.0}))
    assert recording.missing({"a": "1", "b": "2", "c": "1"}) == ["b", "c"]
    recording._take(Session("two", "s", {"b": "2"}, {"b::z": 3.0}))
    assert recording.missing({"a": "1", "b": "2"}) == []
    assert recording.seconds == {"a::x": 1.0, "b::z": 3.0}


def test_caught_mutants_stay_caught_and_survivors_are_tried_with_new_tests(
    tmp_path: Path, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third, *_ = mutants_of(sources, TWICE)
    ledger = Ledger(tmp_path / "results.json", "tests")
    ledger.keep(first, Outcome(Verdict.CAUGHT, "tests/a.py::test_a", 1, 0.5))
    ledger.keep(second, Outcome(Verdict.SURVIVED, "", 9, 5.0))
    ledger.keep(third, Outcome(Verdict.UNDECIDED, "", 9, 60.0))
    again = Ledger(tmp_path / "results.json", "tests")
    again.load()
    assert again.get(first) == Outcome(Verdict.CAUGHT, "tests/a.py::test_a", 1, 0.5)
    assert again.get(second) == Outcome(Verdict.SURVIVED, "", 9, 5.0)
    assert again.get(third) is None
    other_tests = Ledger(tmp_path / "results.json", "other tests")
    other_tests.load()
    assert other_tests.get(first) is not None
    assert other_tests.get(second) is None
    (sources / "wire" / "a.py").write_text(dedent(TWICE) + "\n\n")
    changed_code = Ledger(tmp_path / "results.json", "tests")
    changed_code.load()
    assert changed_code.get(first) is None


def test_the_list_of_equivalent_mutants_is_sound() -> None:
    for identity, reason in read_equivalent().items():
        assert identity.path.partition("/")[0] in RECORDED
        assert reason.endswith(".")


def test_equivalent_mutants_that_are_no_more_are_named() -> None:
    here = draw(source_files(["wire/packets/ping.py"]), 1, 1)[0].identity
    gone = here._replace(before="nothing like it")
    elsewhere = here._replace(path="wire/no_module.py")
    assert stale([here, gone, elsewhere]) == [gone, elsewhere]


def test_the_figures_leave_equivalent_mutants_out(tmp_path: Path) -> None:
    verdicts = Counter({Verdict.CAUGHT: 6, Verdict.TIMEOUT: 1, Verdict.SURVIVED: 1})
    figures = Figures(7, 10, 2, verdicts)
    assert figures.sentence().startswith(
        "Seed 7: 10 mutants, 2 of them equivalent; of 8 tried 7 were caught (87.5 %), "
    )
    runs = enter(figures, tmp_path / "runs.tsv")
    text = page(figures, {PING: Outcome(Verdict.SURVIVED)}, {PING.identity: "Equal."}, runs)
    assert "| wire | 1 | 0 |\n" in text
    assert "| survived |\n" in text
    assert "| Equal. |\n" in text
    assert "| 7 | all | 10 | 7 | 2 | 7 |\n" in text


def test_the_first_result_of_a_seed_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "runs.tsv"
    enter(Figures(2, 10, 0, Counter({Verdict.CAUGHT: 6})), path)
    enter(Figures(10, 20, 0, Counter({Verdict.CAUGHT: 20})), path)
    runs = enter(Figures(2, 10, 1, Counter({Verdict.CAUGHT: 9})), path)
    assert runs == [["2", "all", "10", "6", "1", "9"], ["10", "all", "20", "20", "0", "20"]]
    lines = ["2\tall\t10\t6\t1\t9", "10\tall\t20\t20\t0\t20"]
    assert path.read_text().splitlines()[1:] == lines


def test_runs_over_some_packages_have_lines_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "runs.tsv"
    some = Figures(1, 5, 0, Counter({Verdict.CAUGHT: 4}), "wire/rpc net/rpc")
    assert some.sentence().startswith("Seed 1, wire/rpc net/rpc: 5 mutants,")
    enter(some, path)
    runs = enter(Figures(1, 10, 0, Counter({Verdict.CAUGHT: 6})), path)
    assert runs == [
        ["1", "all", "10", "6", "0", "6"],
        ["1", "wire/rpc net/rpc", "5", "4", "0", "4"],
    ]
