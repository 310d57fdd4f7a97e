"""`openmsmq export`, `diff` and `apply`, and `serve --definitions`."""

import subprocess
from pathlib import Path

import pytest
from tests.cli.running import PROGRAM, SECONDS, Manager
from tests.server.raw_client import PORTS_OFF

FILE = r"""
[[queues]]
path = 'private$\orders'
transactional = true
label = "of the shop"

[[queues]]
path = 'private$\plain'
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "queues.toml"
    path.write_text(text)
    return str(path)


def test_a_file_is_applied_compared_and_exported(manager: Manager, tmp_path: Path) -> None:
    file = written(tmp_path, FILE)
    assert manager.run("diff", file).code == 4
    planned = manager.run("apply", file, "--dry-run")
    assert r"create: queue private$\orders" in planned.out
    assert "2 changes, none made (dry run)" in planned.out
    applied = manager.run("apply", file, "--json")
    assert [change["action"] for change in applied.objects[-2:]] == ["create", "create"]
    shown = manager.run("queue", "show", r".\private$\orders", "--json").object
    assert (shown["transactional"], shown["label"]) == (True, "of the shop")
    for form in ((), ("--json",)):
        export = written(tmp_path, manager.run("export", *form).out)
        same = manager.run("diff", export)
        assert (same.code, same.out) == (0, f"No difference from {export}\n")
    changed = written(tmp_path, FILE.replace("of the shop", "of nobody"))
    assert "label from of the shop to of nobody" in manager.run("diff", changed).out
    assert "changed: queue" in manager.run("apply", changed).out
    emptied = manager.run("apply", written(tmp_path, "queues = []"), "--prune")
    assert r"deleted: queue private$\orders" in emptied.out


def test_faults_name_line_and_key(manager: Manager, tmp_path: Path) -> None:
    file = written(tmp_path, FILE.replace("true", '"yes"'))
    refused = manager.run("apply", file)
    assert refused.code == 1
    assert f"{file}:4: queues[0].transactional: Expected `bool`" in refused.err
    assert "Likely cause: The file has a mistake; nothing was changed." in refused.err
    assert "Remedy: Correct the line that is named" in refused.err
    twice = manager.run("apply", written(tmp_path, 2 * FILE))
    assert "has the same path" in twice.err
    assert "Remedy: Correct the line that is named" in twice.err
    wrong = FILE + 'permissions = [{ principal = "everyone", allow = ["fly"] }]\n'
    file = written(tmp_path, wrong)
    refused = manager.run("apply", file)
    assert refused.code == 1
    assert f"{file}:9: queues[1].permissions[0].allow: rights: 'fly'" in refused.err
    missing = tmp_path / "missing"
    refused = manager.run("apply", str(missing))
    assert (refused.code, f"{missing}: No such file or directory\n" in refused.err) == (1, True)
    assert "Remedy: Name a file of definitions" in refused.err
    assert manager.run("apply", file, "--force").code == 2


def test_a_queue_that_cannot_be_replaced_differs(
    manager: Manager, queue: str, tmp_path: Path
) -> None:
    path = queue.partition("\\")[2]
    file = written(tmp_path, f"[[queues]]\npath = '{path}'\ntransactional = true\n")
    manager.run("send", queue, "--body", "1")
    different = manager.run("diff", file)
    assert (different.code, f"replace: queue {path}\n" in different.out) == (4, True)
    refused = manager.run("apply", file, "--recreate", "--dry-run")
    assert (refused.code, "and holds 1 message, which cannot" in refused.err) == (1, True)


def test_a_start_applies_definitions_first(tmp_path: Path) -> None:
    file = written(tmp_path, FILE)
    manager = Manager(tmp_path / "qm", "--definitions", file)
    assert manager.run("diff", file).code == 0
    assert manager.stop() == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[queues]]\nqouta = 5\n", ":2: queues[0].qouta: is not a key that is known here\n"),
        (None, ": No such file or directory\n"),
    ],
)
def test_a_start_with_wrong_definitions_says_what_to_correct(
    tmp_path: Path, text: str | None, said: str
) -> None:
    file = tmp_path / "queues.toml"
    if text is not None:
        file.write_text(text)
    options = ("--data", str(tmp_path / "qm"), *PORTS_OFF, "--definitions", str(file))
    refused = subprocess.run(
        [PROGRAM, "serve", *options], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert refused.returncode == 1
    assert f"{file}{said}" in refused.stderr
    assert ("Correct the line that is named" in refused.stderr) == (text is not None)
