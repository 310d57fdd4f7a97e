"""How `openmsmq decode` is called: options, input that it cannot use, the examples of its page."""

import gzip
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.decode.captures import (
    CUT,
    SESSION,
    segment,
    start,
)
from tests.cli.runner import run
from tests.wire.capture import writer
from tests.wire.frames import frame_bytes


def test_raw_bytes_are_not_mixed_with_notices(tmp_path: Path) -> None:
    path = tmp_path / "gap.pcap"
    path.write_bytes(writer.pcap(start(), segment(frame_bytes(5)), segment(frame_bytes(8), at=40)))
    command = [sys.executable, "-c", "from openmsmq.cli import main; main()", "decode", str(path)]
    done = subprocess.run([*command, "--raw"], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, frame_bytes(5) + frame_bytes(8))
    assert b"8 bytes are missing" in done.stderr


@pytest.mark.parametrize(
    "options", [("--json", "--summary"), ("--raw", "--json"), ("--stats", "--summary")]
)
def test_one_way_to_print_at_a_time(options: tuple[str, ...]) -> None:
    assert run("decode", *options, stdin=frame_bytes(8)).code == 2


def test_packets_without_a_time_are_not_since_any() -> None:
    assert run("decode", "--since", "2000-01-01", stdin=frame_bytes(8)).code == 1


@pytest.mark.parametrize(
    "arguments", [("--since", "yesterday"), ("--id", "7"), ("--kind", "Message")]
)
def test_wrong_filters_have_exit_code_2_and_name_the_option(arguments: tuple[str, ...]) -> None:
    outcome = run("decode", *arguments, stdin=frame_bytes(8))
    assert outcome.code == 2
    assert arguments[0] in outcome.err


@pytest.mark.parametrize(
    ("arguments", "stdin", "text"),
    [
        ((), b"hello, world", "-: line 1: 'h' is not a hexadecimal digit\nLikely cause: the input"),
        (("--format", "pcap"), b"nothing", "Capture.Magic at offset 0 (0x0): "),
        ((), b"", "no packets found\nLikely cause: the input is empty, a"),
        (("/does/not/exist",), b"", "/does/not/exist cannot be read: No such file or directory\n"),
        ((), gzip.compress(CUT, mtime=0)[:60], "- cannot be read: "),
    ],
)
def test_input_that_cannot_be_used_is_explained(
    arguments: tuple[str, ...], stdin: bytes, text: str
) -> None:
    outcome = run("decode", *arguments, stdin=stdin)
    assert (outcome.code, outcome.out) == (1, "")
    assert text in outcome.err
    assert "\nRemedy: " in outcome.err


def test_bytes_that_are_no_packet_are_shown_as_one_with_a_fault() -> None:
    outcome = run("decode", stdin=b"\x89PNG\r\n\x1a\n" + bytes(range(60)))
    assert outcome.code == 1
    assert "BaseHeader.VersionNumber at offset 0 (0x0): is 0x89, not 0x10" in outcome.out


@pytest.mark.parametrize(
    "arguments",
    [("--port", "0"), ("--port", "65536"), ("--limit", "0"), ("--format", "xml"), ("a", "b")],
)
def test_wrong_options_have_exit_code_2(arguments: tuple[str, ...]) -> None:
    assert run("decode", *arguments).code == 2


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = [sys.executable, "-c", "from openmsmq.cli import main; main()", "decode", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(b"".join(SESSION))
        process.stdin.close()
        assert process.stderr.read() == b""


PAGE = Path(__file__).parents[3] / "docs" / "decode.md"
EXAMPLE = re.compile(
    r"```console\n\$ echo '([^']*)' \| openmsmq (decode[^\n]*)\n(.*?)```\n", re.DOTALL
)


def test_the_examples_of_the_page_are_what_the_command_prints() -> None:
    examples = EXAMPLE.findall(PAGE.read_text("utf-8"))
    assert len(examples) == 4
    for stdin, command, printed in examples:
        outcome = run(*command.split(), stdin=stdin.encode())
        assert outcome.out + outcome.err == printed
