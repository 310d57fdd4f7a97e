"""The tool behind `make conformance`."""

import os
import subprocess
import sys

from tools.catalogue import ROOT

SHOW = "from tools.conformance import show_json; show_json({'row': each} for each in range(20000))"


def test_json_ends_quietly_when_nobody_reads_on() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-c", SHOW],
            cwd=ROOT,
            stdout=writer,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
