"""The example notebook runs from its first cell to its last."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTEBOOK: Final = Path(__file__).resolve().parents[2] / "examples" / "openmsmq.ipynb"
COUNTS: Final = {"read": 200, "arrived unread": 85, "expired unread": 15, "all": 300}
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


def code_cells() -> list[dict[str, Any]]:
    found = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if cell["cell_type"] == "code"]


def test_the_notebook_is_kept_without_its_outputs() -> None:
    code = code_cells()
    assert len(code) > 5
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)


def test_its_cells_run_and_its_audit_adds_up(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    """In IPython, with the session of the tests, which the last cell must not end."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    class Shell(InteractiveShell):
        def enable_gui(self, gui: str | None = None) -> None:
            """There is none, as in a notebook."""

    stopped: list[bool] = []
    monkeypatch.setattr("openmsmq.spark.session", lambda _master: spark)
    monkeypatch.setattr(spark, "stop", lambda: stopped.append(True))
    shell = Shell.instance()
    results, pictures, printed = [], 0, ""
    try:
        for cell in code_cells():
            with capture_output() as captured, warnings.catch_warnings():
                warnings.simplefilter("default")
                outcome = shell.run_cell("".join(cell["source"]))  # type: ignore[no-untyped-call]
            outcome.raise_error()
            results.append(str(outcome.result))
            pictures += sum("image/png" in each.data for each in captured.outputs)
            printed += captured.stdout
    finally:
        Shell.clear_instance()
    assert str(COUNTS) in results
    assert pictures == 1
    assert '{"fruit": "apples", "kilos": 1}' in printed
    assert stopped


@pytest.mark.soak
@pytest.mark.timeout(1100)  # starts Spark once more, in its kernel
@pytest.mark.xdist_group("spark")
def test_it_runs_in_a_kernel_with_a_spark_of_its_own(tmp_path: Path) -> None:
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
    shown = [output.get("data", {}).get("text/plain") for cell in outputs for output in cell]
    assert str(COUNTS) in shown, text[-2000:]
