"""The examples of the documents about the command line do what the documents say."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.documents import ROOT, Example, blocks, steps
from tests.cli.running import SECONDS, Manager, run

from openmsmq.cli import COMMANDS

BIN = str(Path(sys.executable).parent)


@pytest.mark.parametrize("document", ["docs/cli.md", "docs/concepts.md", "docs/dead-letters.md"])
def test_the_examples_print_what_the_document_shows(document: str, tmp_path: Path) -> None:
    manager = Manager(tmp_path / "data", "--name", "alpha")
    environment = manager.environment | {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
        "XDG_DATA_HOME": str(tmp_path / "share"),
        "OPENMSMQ_CERTIFICATES": str(tmp_path / "certificates"),
        "OPENMSMQ_JOBS": str(tmp_path / "jobs"),
    }
    examples = steps(document)
    assert len(examples) > 5
    try:
        for example in examples:
            if isinstance(example, Example):
                command = ["bash", "-c", example.command]
            else:
                command = [sys.executable, "-c", example]
            done = subprocess.run(
                command,
                env=environment,
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                timeout=SECONDS,
                check=False,
            )
            if isinstance(example, Example):
                assert example.matches(done.stdout), f"{example}\nprinted:\n{done.stdout}"
            else:
                assert done.returncode == 0, done.stdout
    finally:
        assert manager.stop() == 0


@pytest.mark.xdist_group("default-ports")
def test_the_quick_start_works_as_it_is(tmp_path: Path) -> None:
    """Copied and pasted, but for making the environment, which is there."""
    serve, use = (
        re.sub(r"(?m)^(make setup|source .*)\n", "", block)
        for block in blocks("docs/quick-start.md", "sh")
    )
    (program,) = blocks("docs/quick-start.md", "python")
    environment = {
        **os.environ,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "XDG_DATA_HOME": str(tmp_path),
    }
    environment.pop("OPENMSMQ_SOCKET", None)
    serving = subprocess.Popen(["bash", "-c", f"exec {serve}"], env=environment)
    try:
        deadline = time.monotonic() + SECONDS
        while not (tmp_path / "openmsmq" / "openmsmq.sock").exists():
            assert serving.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        shell = ["bash", "-ec", use]
        told = subprocess.run(
            shell, env=environment, capture_output=True, text=True, timeout=SECONDS, check=True
        )
        assert told.stderr == ""
        assert re.search(r"^Created .*\\private\$\\orders$", told.stdout, re.MULTILINE)
        assert told.stdout.count("  12 apples\n") == 2
        told = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
        assert told.stdout == "order 2 12 pears\n"
    finally:
        serving.send_signal(signal.SIGINT)
        assert serving.wait(SECONDS) == 0


def test_the_readme_has_the_same_quick_start() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for language in ("sh", "python"):
        for block in blocks("docs/quick-start.md", language):
            assert block in text


def test_the_reference_has_every_command_and_option() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for entry in COMMANDS:
        assert f"`{entry.name}" in text, entry.name
    for command in (
        *("status", "top", "send", "receive", "peek", "move", "outgoing", "backup", "restore"),
        *("store check", "queue list", "queue show", "queue create", "queue set", "queue purge"),
        *("queue delete", "queue grant", "queue revoke", "outgoing pause"),
        *("key create", "key list", "key export", "key import"),
    ):
        shown = run([*command.split(), "--help"])
        assert shown.code == 0
        options = set(re.findall(r"--[a-z][a-z-]+", shown.out)) - {"--help"}
        missing = [option for option in options if option not in text]
        assert not missing, command
