"""What a shell offers to complete."""

import os
import subprocess

import pytest
from tests.cli.running import PROGRAM, SECONDS


def completed(line: str) -> list[str]:
    """The words that bash gets for a line that ends where the cursor is."""
    words = line.split(" ")
    environment = {
        "PATH": os.environ["PATH"],
        "_OPENMSMQ_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [PROGRAM], env=environment, capture_output=True, text=True, timeout=SECONDS, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("openmsmq rec", ["receive"]),
        ("openmsmq queue re", ["readers", "revoke", "release"]),
        ("openmsmq outgoing p", ["pause", "peek", "purge"]),
        ("openmsmq store ", ["check"]),
        ("openmsmq queue create --journal", ["--journal", "--journal-quota"]),
        ("openmsmq queue create --privacy o", ["optional"]),
        ("openmsmq send --ack arrival,positive-a", ["arrival,positive-arrival"]),
        ("openmsmq send --body-type VT_LP", ["VT_LPSTR", "VT_LPWSTR"]),
        ("openmsmq queue grant q ev", ["everyone"]),
        ("openmsmq queue grant q everyone rec", ["receive", "receive-journal"]),
        ("openmsmq receive --lo", ["--lookup-id"]),
    ],
)
def test_words_and_values_are_completed(line: str, words: list[str]) -> None:
    assert completed(line) == words
