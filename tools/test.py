"""Run the whole test suite: conformance figures and coverage verdict, then pytest's closing line.

Arguments are passed on to pytest.
"""

import os
import sys

from tools.catalogue import ROOT

COMMAND = [
    *(sys.executable, "-m", "pytest", "-q"),
    *("-p", "tests.plugins.coverage_gate", "--conformance"),
    # Groups keep the tests that share something costly, such as a Spark session, in one process.
    *("--numprocesses", "auto", "--dist", "loadgroup"),
]


def main() -> None:
    os.chdir(ROOT)
    # The tests start hundreds of processes, each of which would compile everything anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.stdout.flush()
    os.execv(sys.executable, [*COMMAND, *sys.argv[1:]])  # noqa: S606 - our own interpreter


if __name__ == "__main__":
    main()
