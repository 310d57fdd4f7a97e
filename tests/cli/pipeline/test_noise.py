"""What programs write to stderr: noise goes, the rest stays."""

import subprocess
import sys
from typing import Final

SCRIPT: Final = """
import subprocess, sys, time
from openmsmq.cli.pipeline.noise import filtered_stderr

child = '''
import sys
sys.stdin.readline()
print("WARNING: Using incubator modules: jdk.incubator.vector", file=sys.stderr)
print("an error of Spark", "", "Starting Streaming TransformWithStateInPandas Python worker.",
      "", "", "another", sep="\\\\n", file=sys.stderr)
'''
with filtered_stderr():
    program = subprocess.Popen([sys.executable, "-c", child], stdin=subprocess.PIPE)
print("ours: WARNING: Using incubator modules", file=sys.stderr)
program.communicate(b"go on, later\\n")
time.sleep(1)  # until it is passed on
"""


def test_noise_of_programs_is_dropped_and_the_rest_passed_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr.splitlines() == [
        "ours: WARNING: Using incubator modules",
        "an error of Spark",
        "",
        "another",
    ]


def test_a_stderr_that_is_closed_is_no_obstacle() -> None:
    script = (
        "import os, subprocess, sys; os.close(2)\n"
        "from openmsmq.cli.pipeline.noise import filtered_stderr\n"
        "with filtered_stderr(): print('done')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "done\n"
