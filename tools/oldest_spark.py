"""Run Spark's tests with the oldest PySpark that openmsmq allows, in an environment of its own.

Arguments are passed on to pytest.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tools.catalogue import ROOT

FOLDER = ROOT / "build" / "oldest-spark"
LOCK = ROOT / "requirements" / "lock.txt"
UV = Path(sys.executable).with_name("uv")


def oldest(pyproject: str) -> str:
    """The requirement of the oldest allowed PySpark, such as `pyspark==4.2.*`."""
    extras = tomllib.loads(pyproject)["project"]["optional-dependencies"]
    for requirement in extras["spark"]:
        found = re.fullmatch(r"pyspark(?:\[\w+\])?>=(\d+\.\d+),.*", requirement)
        if found:
            return f"pyspark=={found[1]}.*"
    raise SystemExit("oldest_spark: pyproject.toml names no oldest PySpark")


def install(requirement: str) -> Path:
    """Make the environment, or bring it up to date; returns its Python."""
    python = FOLDER / "bin" / "python"
    override = FOLDER / "override.txt"
    environ = {**os.environ, "UV_LINK_MODE": "copy", "UV_SYSTEM_CERTS": "true"}
    if not python.exists():
        command = [str(UV), "venv", "--quiet", "--python", sys.executable, str(FOLDER)]
        subprocess.run(command, check=True, env=environ)
    override.write_text(f"{requirement}\n")
    wanted = ("--requirement", str(LOCK), "--override", str(override), "--editable", str(ROOT))
    command = [str(UV), "pip", "install", "--quiet", "--python", str(python), *wanted]
    subprocess.run(command, check=True, env=environ)
    return python


def main() -> None:
    requirement = oldest((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    python = install(requirement)
    os.chdir(ROOT)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    print(f"tests/spark with {requirement}", flush=True)
    command = [str(python), "-m", "pytest", "-q", "tests/spark", *sys.argv[1:]]
    os.execv(python, command)  # noqa: S606 - our own interpreter


if __name__ == "__main__":
    main()
