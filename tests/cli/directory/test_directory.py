"""`openmsmq directory`."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.cli.runner import Outcome, run
from tests.directory.test_editing import editor

from openmsmq.directory.objects import QueueManagerObject


class File:
    """The command on a file with the directory of `test_editing`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        _, file = editor()
        path.write_bytes(file.content)

    def directory(self, *arguments: str) -> Outcome:
        return run("directory", *arguments, "--file", str(self.path))

    def json(self, *arguments: str) -> dict[str, Any]:
        outcome = self.directory(*arguments, "--json")
        assert outcome.code == 0, outcome.err
        found: dict[str, Any] = json.loads(outcome.out)
        return found


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path / "directory.json")


def test_people_see_sites_links_servers_and_warnings(file: File) -> None:
    file.directory("link", "set", "A", "B", "--gate", "N2")
    shown = file.directory("show").out.splitlines()
    assert "A     own   N1, N2" in shown
    assert "A-B      3  N2" in shown
    assert any(line.split() == ["N2", "A", "routing", "-", "-"] for line in shown)
    assert shown[-1] == "Warning: link A-B: no gate in B"
    assert max(map(len, shown)) <= 80


def test_programs_see_the_same(file: File) -> None:
    shown = file.json("show")
    assert [site["site"] for site in shown["sites"]] == ["A", "B", "C"]
    assert shown["links"] == [{"sites": ["A", "B"], "cost": 3, "gates": ["N2", "N3"]}]
    assert [server["routing"] for server in shown["servers"]] == [False, True, True]
    assert shown["warnings"] == []


def test_a_topology_is_made_step_by_step(file: File) -> None:
    assert file.directory("site", "add", "D").out == "Added site D\n"
    assert file.directory("server", "set", "N3", "--site", "B", "--site", "D").code == 0
    assert file.directory("link", "add", "B", "D", "--cost", "9", "--gate", "N3").out == (
        "Added link B-D: cost 9, gates N3\n"
    )
    assert file.json("link", "set", "B", "D", "--cost", "8")["cost"] == 8
    assert file.json("server", "set", "N1", "--out-server", "N2")["out_servers"] == ["N2"]
    assert file.json("server", "set", "N1", "--direct")["out_servers"] == []
    assert file.json("server", "add", "MVS", "--site", "C")["foreign"]
    assert file.directory("server", "remove", "MVS").out.startswith("Removed server MVS")
    assert file.directory("link", "set", "B", "D", "--no-gates").out.splitlines() == [
        "Changed link B-D: cost 8, gates -",
        "Warning: link B-D: no gate in B",
        "Warning: link B-D: no gate in D",
    ]
    assert file.json("link", "remove", "B", "D")["change"] == "remove"
    assert file.directory("site", "remove", "C").out == "Removed site C\n"


@pytest.mark.parametrize("kind", ["site", "link", "server"])
def test_each_kind_is_listed(file: File, kind: str) -> None:
    people = file.directory(kind, "list").out.splitlines()
    programs = file.directory(kind, "list", "--json").out.splitlines()
    assert len(people) == len(programs) + 1
    assert all(json.loads(line) for line in programs)


@pytest.mark.parametrize(
    "change",
    [
        ("site", "add", "D", "--foreign"),
        ("site", "remove", "C"),
        ("link", "set", "A", "B", "--cost", "4"),
        ("link", "remove", "A", "B"),
        ("link", "add", "B", "C"),
        ("server", "set", "N1", "--routing"),
        ("server", "add", "X"),
        ("server", "remove", "N1"),
    ],
)
def test_a_dry_run_changes_nothing(file: File, change: tuple[str, ...]) -> None:
    before = file.path.read_bytes()
    assert file.directory(*change, "--dry-run").out.startswith("Would ")
    assert file.json(*change, "--dry-run")["dry_run"] is True
    assert file.path.read_bytes() == before


def test_what_cannot_be_is_refused_with_a_reason(file: File, tmp_path: Path) -> None:
    before = file.path.read_bytes()
    outcome = file.directory("link", "add", "A", "C", "--cost", "0")
    assert outcome.code == 1
    assert "0 is not in 1..999999" in outcome.err
    assert file.path.read_bytes() == before
    assert "name its file with --file" in run("directory", "show").err
    missing = run("directory", "show", "--file", str(tmp_path / "none.json"))
    assert missing.code == 1
    assert "No such file" in missing.err
    assert file.directory("server", "set", "N1", "--direct", "--out-server", "N2").code == 2


def test_a_server_of_no_known_site_shows_its_identifier() -> None:
    from openmsmq.cli.directory.text import Names, server_row

    server = QueueManagerObject(
        UUID(int=1), computer_name="N1", site_identifier_list=(UUID(int=5),), foreign_system=True
    )
    assert server_row(server, Names([], [server]))[1:3] == (f"{{{UUID(int=5)}}}", "foreign")
