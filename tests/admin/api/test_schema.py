"""Generated requests: no failure of the console, and no answer outside the document."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.admin.console_process import watched
from tests.cli.running import run

# What writes files, takes the token away that the requests are made with, or never ends.
LEFT_OUT = ("backup", "add_token", "remove_token", "stream_events")


@pytest.mark.timeout(300)
def test_generated_requests_get_documented_answers(tmp_path: Path) -> None:
    with watched(tmp_path, "--name", "alpha") as manager:
        manager.run("queue", "create", ".\\private$\\orders")
        words = ["console", "token", "add", "all", "--principal", "user:root"]
        role = ["--role", "administrator", "--data", str(manager.data)]
        token = run([*words, *role]).out.strip()
        left_out = [word for name in LEFT_OUT for word in ("--exclude-operation-id", name)]
        checks = (
            "not_a_server_error,status_code_conformance,content_type_conformance,"
            "response_schema_conformance"
        )
        program = str(Path(sys.executable).with_name("schemathesis"))
        done = subprocess.run(
            [
                *(program, "run", f"http://{manager.console}/api/v1/openapi.json"),
                *("-H", f"Authorization: Bearer {token}", "--checks", checks),
                *("--phases", "fuzzing", "--max-examples", "3", "--seed", "1", *left_out),
                *("--rate-limit", "90/s"),
            ],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout
