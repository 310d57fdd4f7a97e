"""`openmsmq health` where no queue manager answers."""

import json
from pathlib import Path

from tests.cli.runner import run


def test_no_queue_manager_is_told_by_code_cause_and_remedy(tmp_path: Path) -> None:
    outcome = run("health", "--socket", str(tmp_path / "none.sock"))
    assert (outcome.code, outcome.out) == (1, "")
    first, cause, remedy = outcome.err.splitlines()
    assert first.startswith(
        "openmsmq health: MQ_ERROR_SERVICE_NOT_AVAILABLE (0xC00E000B): answers: "
    )
    assert cause.startswith("Likely cause: ")
    assert remedy.startswith("Remedy: ")


def test_no_queue_manager_is_a_failed_check_as_json(tmp_path: Path) -> None:
    outcome = run("health", "--json", "--socket", str(tmp_path / "none.sock"))
    assert (outcome.code, outcome.err) == (1, "")
    assert json.loads(outcome.out)["ok"] is False
