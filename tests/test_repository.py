"""Rules about the files themselves."""

import ast
import re
import subprocess
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest

from openmsmq.core.state import State

ROOT: Final = Path(__file__).resolve().parent.parent
# In pieces, so that this file keeps its own rule.
HOSTS: Final = ("pypi" + r"\.org", "python" + r"hosted\.org", "npm" + r"js\.", r"maven" + r"\.org")
FORBIDDEN: Final = {
    "a path of one machine": r"(?<![\w./-])/(?:work|root|home|Users)/",
    "a folder outside the repository": r"\.\./" + "shared",
    "the host of a package registry": "|".join(HOSTS),
}
# What code calls a queue manager.
MANAGERS: Final = frozenset(("manager", "qm", "queue_manager"))
LINK: Final = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)|(?:src|srcset|href)=\"([^\"#]+)\"")


def files(*patterns: str) -> list[Path]:
    """The files that are or can be committed; what git ignores is nobody's business here."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    listed = subprocess.run([*command, *patterns], cwd=ROOT, capture_output=True, check=True)
    paths = [ROOT / name.decode() for name in listed.stdout.split(b"\0") if name]
    return [path for path in paths if path.is_file()]


@pytest.mark.parametrize(("what", "pattern"), FORBIDDEN.items(), ids=[*FORBIDDEN])
def test_no_file_names(what: str, pattern: str) -> None:
    search = re.compile(pattern.encode())
    found = [
        f"{path.relative_to(ROOT)} names {what}: {match[0]!r}"
        for path in files()
        if (match := search.search(path.read_bytes()))
    ]
    assert not found


@pytest.mark.parametrize("word", ["pragma: no " + "cover", "pragma: no " + "branch", "TO" + "DO"])
def test_no_source_has_the_words(word: str) -> None:
    sources = files("*.py")
    assert sources
    assert not [path for path in sources if word in path.read_text(encoding="utf-8")]


def test_vectors_and_corpora_keep_their_bytes() -> None:
    paths = files("tests/vectors", "tests/fuzz/corpus", "*.pcap", "*.pcapng", "*.bin")
    names = "\0".join(str(path.relative_to(ROOT)) for path in paths)
    command = ["git", "check-attr", "--stdin", "-z", "text"]
    shown = subprocess.run(
        command, cwd=ROOT, input=names.encode(), capture_output=True, check=True
    ).stdout.decode()
    values = shown.split("\0")[2::3]
    assert len(values) == len(paths)
    assert set(values) == {"unset"}


def test_links_in_documents_lead_somewhere() -> None:
    broken = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in files("*.md")
        for target in map("".join, LINK.findall(path.read_text(encoding="utf-8")))
        if "://" not in target and not (path.parent / target).exists()
    ]
    assert not broken


def test_the_index_of_the_documents_has_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md"]
    assert not [page for page in pages if f"]({page})" not in index]


def test_pictures_are_well_formed_and_described() -> None:
    pictures = files("docs/images/*.svg")
    assert pictures
    for path in pictures:
        text = path.read_text(encoding="utf-8")
        ElementTree.fromstring(text)  # noqa: S314 - our own file
        assert "<title" in text
        assert "<desc" in text


# The wall around the core


def state_uses(source: str) -> list[str]:
    """Where code reaches into the state of a queue manager."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Attribute):
            continue
        owner = node.value
        name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
        of_manager = node.attr in ("state", "_state") and name.strip("_") in MANAGERS
        of_state = name == "state" and node.attr in State.__slots__
        if of_manager or of_state:
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize(
    "line",
    [
        "manager.state.utc",
        "state = self._manager.state",
        "engine.manager.state",
        "host.qm._state",
        "that.state.outbox.number",
    ],
)
def test_a_look_into_the_state_is_noticed(line: str) -> None:
    assert state_uses(line)


def test_only_the_core_uses_the_state_of_a_queue_manager() -> None:
    core = ROOT / "src" / "openmsmq" / "core"
    outside = [path for path in files("src/*.py") if core not in path.parents]
    assert len(outside) > 100
    assert not [
        f"{path.relative_to(ROOT)}, {use}"
        for path in outside
        for use in state_uses(path.read_text(encoding="utf-8"))
    ]
