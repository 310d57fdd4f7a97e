"""The example notebook runs from its first cell to its last."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

NOTEBOOK: Final = Path(__file__).resolve().parents[2] / "examples" / "openmsmq.ipynb"
# In a process of its own: neither its warnings nor its event loop are those of the tests.
EXECUTE: Final = """
import json, sys
import nbformat
from ipykernel.kernelspec import write_kernel_spec
from nbclient import NotebookClient

write_kernel_spec(sys.argv[2] + "/kernels/python3")
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=1000, kernel_name="python3").execute(cwd=sys.argv[2])
print(json.dumps([cell.outputs for cell in notebook.cells if cell.cell_type == "code"]))
"""


def cells() -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return found


def test_the_notebook_is_kept_without_its_outputs() -> None:
    code = [cell for cell in cells() if cell["cell_type"] == "code"]
    assert len(code) > 5
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)


@pytest.mark.timeout(1100)  # starts Spark once more, in its kernel
@pytest.mark.xdist_group("spark")
def test_the_notebook_runs_and_its_audit_adds_up(tmp_path: Path) -> None:
    environment = os.environ | {
        **dict.fromkeys(("HOME", "JUPYTER_DATA_DIR", "JUPYTER_PATH"), str(tmp_path)),
        **dict.fromkeys(("JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"), str(tmp_path / "run")),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "MPLCONFIGDIR": str(tmp_path / "matplotlib"),
        "JUPYTER_PLATFORM_DIRS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(NOTEBOOK), str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=1000,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    outputs = json.loads(done.stdout.splitlines()[-1])
    text = json.dumps(outputs)
    assert "image/png" in text
    counts = "{'read': 200, 'arrived unread': 85, 'expired unread': 15, 'all': 300}"
    assert any(
        counts == output.get("data", {}).get("text/plain") for cell in outputs for output in cell
    ), text[-2000:]
