"""Compile the hot modules with mypyc: `make compile`; `make compile CLEAN=1` removes them.

The result is a copy of the package in build/compiled with extension modules beside the sources of
the modules in tools/compiled_modules.txt. `make serve` and the benchmarks of brokers, transfer,
processor time, remote read, SRMP and the console put it first on the path while it fits the
sources; everything else, and every machine without a C compiler, runs the same code in pure Python.
`make compile TEST=1` runs the tests against it, without those that replace what is compiled.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from tools.catalogue import ROOT

SOURCE: Final = ROOT / "src"
TARGET: Final = ROOT / "build" / "compiled"
MODULES: Final = ROOT / "tools" / "compiled_modules.txt"
SCRIPT: Final = ROOT / "tools" / "compile_modules.py"
STAMP: Final = "openmsmq-compiled-stamp"
JOBS: Final = 2
# What is compiled, and what stands on it.
TESTS: Final = tuple(
    f"tests/{name}"
    for name in (
        *("wire", "store", "security", "core", "protocol", "net", "client", "care"),
        *("server", "service", "adversity"),
    )
)


def modules() -> list[str]:
    """What is compiled, as paths below the package without their ending."""
    lines = MODULES.read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def fingerprint() -> str:
    """A digest of the sources, of how they are compiled and of the interpreter."""
    digest = hashlib.sha256(sys.version.encode() + MODULES.read_bytes() + SCRIPT.read_bytes())
    for path in sorted((SOURCE / "openmsmq").rglob("*.py")):
        digest.update(str(path.relative_to(SOURCE)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def is_fresh(target: Path = TARGET) -> bool:
    """Whether what was compiled is what the sources say now."""
    stamp = target / STAMP
    return stamp.exists() and stamp.read_text() == fingerprint()


def environment(target: Path = TARGET) -> dict[str, str]:
    """The variables under which Python finds the compiled package first."""
    path = [str(target), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([part for part in path if part])}


def build(target: Path, optimization: str) -> None:
    """Copy the package and compile the copy."""
    shutil.rmtree(target, ignore_errors=True)
    wanted = fingerprint()
    unwanted = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info")
    shutil.copytree(SOURCE, target, ignore=unwanted)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), optimization, str(JOBS), *modules()],
        cwd=target,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.stdout.write(done.stdout[-8000:])
        raise SystemExit("compile: mypyc or the C compiler failed; pure Python goes on working")
    shutil.rmtree(target / "build")
    (target / STAMP).write_text(wanted)


def test(target: Path) -> int:
    """Run the tests against what was compiled."""
    check = (
        "import openmsmq.core.model.lanes as m; assert not m.__file__.endswith('.py'), m.__file__"
    )
    subprocess.run([sys.executable, "-c", check], env=environment(target), cwd=ROOT, check=True)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.plugins.compiled",
        "--numprocesses",
        "auto",
    ]
    done = subprocess.run([*command, *TESTS], env=environment(target), cwd=ROOT, check=False)
    return done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="make compile", description=__doc__)
    parser.add_argument("--clean", action="store_true", help="remove what was compiled")
    parser.add_argument("--test", action="store_true", help="run tests against what was compiled")
    parser.add_argument("--path", action="store_true", help="print where it is, if it fits")
    parser.add_argument("--into", type=Path, default=TARGET, metavar="DIR", help="where to")
    parser.add_argument("--optimization", choices="0123", default="3", help="of the C compiler")
    options = parser.parse_args()
    target = options.into.resolve()
    if options.clean:
        shutil.rmtree(target, ignore_errors=True)
        return 0
    if options.path:
        print(target if is_fresh(target) else "")
        return 0
    if is_fresh(target):
        print(f"{target} fits the sources")
    else:
        start = time.monotonic()
        build(target, options.optimization)
        seconds = time.monotonic() - start
        print(f"compiled {len(modules())} modules into {target} in {seconds:.0f} s")
    return test(target) if options.test else 0


if __name__ == "__main__":
    sys.exit(main())
