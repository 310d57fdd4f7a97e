"""`openmsmq serve` as people run it: a process with output, signals and exit codes."""

import errno
import io
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.server.raw_client import PORTS_OFF, ROOT, Serve, bodies, packet, serving

from openmsmq.cli.manager.serve import RecoveryProgress, describe, print_endpoints
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.errors import MsmqError

ORDERS = r".\private$\orders"
MAIN = "from openmsmq.cli import main; main()"
SIGNAL_WHEN_READY = """
import os, signal
from openmsmq.server import process

write = process.write_ready_file

def write_and_signal(*arguments):
    write(*arguments)
    os.kill(os.getpid(), signal.SIGTERM)

process.write_ready_file = write_and_signal
from openmsmq.cli import main
main()
"""


def run(*arguments: str, program: str = MAIN) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, "serve", *PORTS_OFF, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly(tmp_path: Path, number: int) -> None:
    with serving(tmp_path) as serve:
        assert json.loads(serve.ready_file.read_text()) == {"local": str(serve.socket)}
        assert serve.stop(number) == 0
        assert not serve.ready_file.exists()
        assert "M0003" in serve.log


def test_settings_come_from_the_environment_but_not_the_socket(tmp_path: Path) -> None:
    other = str(tmp_path / "other.sock")
    environ = {"OPENMSMQ_LOG_FORMAT": "json", "OPENMSMQ_SOCKET": other}
    serve = Serve(tmp_path, environ=environ).start()
    try:
        assert json.loads(serve.ready_file.read_text()) == {"local": str(serve.socket)}
    finally:
        assert serve.stop() == 0
    assert '"event": "M0001"' in serve.log


def test_a_hangup_reloads_and_does_not_stop(tmp_path: Path) -> None:
    log = tmp_path / "qm.log"
    with serving(tmp_path, "--log-file", str(log)) as serve:
        log.rename(tmp_path / "qm.log.1")
        serve.process.send_signal(signal.SIGHUP)
        wait_for(log.exists)
        wait_for(lambda: "M0016 reloaded what=log_file" in log.read_text())
        with serve.connect() as client:
            client.create(ORDERS)
        assert serve.stop() == 0
    assert "M0001" in (tmp_path / "qm.log.1").read_text()
    assert "M0003" in log.read_text()


HANGUP_WHEN_RECOVERING = f"""
import os, signal
from openmsmq.store.file_store import FileStore

recover = FileStore.recover

def recover_and_signal(self, progress=None):
    os.kill(os.getpid(), signal.SIGHUP)
    return recover(self, progress)

FileStore.recover = recover_and_signal
{MAIN}
"""
HANGUP_AT_THE_END = """
import os, signal, sys
from openmsmq.cli import main

try:
    main()
finally:
    os.kill(os.getpid(), signal.SIGHUP)
"""


def test_a_hangup_during_the_start_reloads_later(tmp_path: Path) -> None:
    serve = Serve(tmp_path, program=HANGUP_WHEN_RECOVERING).start()
    wait_for(lambda: "M0016" in serve.log)
    assert serve.log.index("M0001") < serve.log.index("M0016")
    assert serve.stop() == 0


def test_a_hangup_after_the_stop_does_not_change_the_exit_code(tmp_path: Path) -> None:
    serve = Serve(tmp_path, program=HANGUP_AT_THE_END).start()
    assert serve.stop() == 0


def test_paths_are_shown_from_the_root(tmp_path: Path) -> None:
    inside = f"import os; os.chdir({str(tmp_path)!r})\n{MAIN}"
    serve = Serve(tmp_path, "--data", "data", program=inside).start()
    data = tmp_path / "data"
    assert json.loads(serve.ready_file.read_text()) == {"local": str(data / "openmsmq.sock")}
    # The ready file is there a moment before the lines are printed.
    wait_for(lambda: f"local      {data / 'openmsmq.sock'}" in serve.log)
    with serve.connect() as client:
        assert client.value(local.GetStatus(client.next_id()))["data"] == str(data)
    assert serve.stop() == 0


def test_a_signal_at_the_moment_it_is_ready_stops_it_cleanly(tmp_path: Path) -> None:
    serve = Serve(tmp_path, program=SIGNAL_WHEN_READY)
    serve.spawn()
    assert serve.process.wait(60) == 0
    assert "M0003" in serve.log
    assert not serve.ready_file.exists()


def test_it_prints_one_line_for_each_endpoint(tmp_path: Path) -> None:
    names = {"binary", "ping", "rpc", "qm2qm", "epm"}
    flags = [word for name in sorted(names) for word in (f"--{name}-port", "0")]
    with serving(tmp_path, *flags) as serve:
        wait_for(lambda: all(f"{name} " in serve.log for name in (*names, "local")))
        lines = [line.split() for line in serve.log.splitlines() if " M0" not in line]
        assert dict(lines) == json.loads(serve.ready_file.read_text())
        assert {name for name, _ in lines} == {"local", *names}


def test_a_taken_port_of_the_console_is_an_error_of_the_start(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = run("--data", str(tmp_path / "data"), "--console-port", port)
    assert refused.returncode == 1
    assert f"console_port: 127.0.0.1:{port}" in refused.stderr
    assert not (tmp_path / "data").exists()


def test_a_second_process_says_so_and_ends_with_1(tmp_path: Path) -> None:
    with serving(tmp_path) as serve:
        second = run("--data", str(serve.data))
        assert second.returncode == 1
        assert f"in use by process {serve.process.pid}" in second.stderr
        assert f"remedy: Stop process {serve.process.pid}, or give another" in second.stderr
        assert "store check" not in second.stderr
        assert "Traceback" not in second.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--binary-port", "70000"), ("binary_port", "is not a port")),
        (("--rpc-port", "many"), ("rpc_port", "is not a port")),
        (("--name", "a b"), ("name", "'a b'")),
        (("--log-level", "loud"), ("log_level", "'loud'")),
        (("--config", "none.toml"), ("none.toml",)),
        (("--ready-file", "/proc/none/ready"), ("ready_file", "/proc/none/ready")),
        (("--local-port", "0"), ("local_port", "local_certificate")),
        (("--data", "/proc/none"), ("/proc/none",)),
    ],
)
def test_what_cannot_be_used_is_named_with_a_remedy(
    tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = run("--data", str(tmp_path), *arguments)
    assert done.returncode == 1
    for word in (*words, "remedy:"):
        assert word in done.stderr
    assert "Traceback" not in done.stderr


def test_the_help_says_what_each_port_is_for() -> None:
    shown = " ".join(run("--help").stdout.split())
    for option, purpose in (
        ("--binary-port PORT", "Messages of other queue managers"),
        ("--http-port PORT", "Messages over HTTP (SRMP) [80]."),
        ("--local-port PORT", "Clients over the network"),
    ):
        assert f"{option} {purpose}" in shown


def test_wrong_usage_ends_with_2(tmp_path: Path) -> None:
    assert run("--no-such-option").returncode == 2


def test_the_configuration_file_is_used(tmp_path: Path) -> None:
    file = tmp_path / "qm.toml"
    file.write_text('log_format = "json"\nlog_level = "info"\nbinary_port = "off"\n')
    with serving(tmp_path, "--config", str(file)) as serve:
        # It is logged once the file is there that the start waits for.
        wait_for(lambda: "M0001" in serve.log)
        lines = [line for line in serve.log.splitlines() if line.startswith("{")]
        assert json.loads(lines[-1])["event"] == "M0001"


def test_a_store_that_fails_ends_it_with_1_and_loses_nothing(tmp_path: Path) -> None:
    failing = (
        "import os; from openmsmq.store.file_store import FileStore as F; "
        "from openmsmq.wire.errors import StoreError; w = F.write\n"
        "def write(self, batch):\n"
        "    if os.path.exists(os.environ['FAIL']): raise StoreError('segment: broken')\n"
        "    w(self, batch)\n"
        f"F.write = write\n{MAIN}"
    )
    fail = tmp_path / "fail"
    serve = Serve(tmp_path, program=failing, environ={"FAIL": str(fail)}).start()
    with serve.connect() as client:
        client.create(ORDERS)
        client.send(client.open(ORDERS, "send"), packet(b"kept"))
        fail.touch()
        with pytest.raises(ConnectionError):
            client.send(client.open(ORDERS, "send"), packet(b"never said"))
    assert serve.process.wait(30) == 1
    assert "M0007" in serve.log
    assert "segment: broken" in serve.log
    assert "remedy:" in serve.log
    fail.unlink()
    with serving(tmp_path) as again, again.connect() as client:
        assert bodies(client.receive(client.open(ORDERS), count=9))[0] == b"kept"


def test_a_signal_during_the_recovery_stops_it_too(tmp_path: Path) -> None:
    slow = (
        "import os, signal, time; from openmsmq.store.file_store import FileStore as F\n"
        "def recover(self, progress=None):\n"
        "    os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)\n"
        f"F.recover = recover\n{MAIN}"
    )
    started = time.monotonic()
    done = run("--data", str(tmp_path), program=slow)
    assert done.returncode == 0
    assert time.monotonic() - started < 50
    assert "Traceback" not in done.stderr


def test_it_stops_though_a_client_does_not_read(tmp_path: Path) -> None:
    with serving(tmp_path) as serve, serve.connect() as client:
        client.create(ORDERS)
        client.send(client.open(ORDERS, "send"), *[packet(bytes(1 << 20))] * 8)
        handle = client.open(ORDERS)
        for _ in range(5):
            client.post(local.Receive(client.next_id(), handle, "peek", count=9, max_bytes=1 << 24))
        time.sleep(0.3)
        assert serve.stop() == 0


def test_a_thousand_clients_need_no_setting_of_the_shell(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = (
        "import resource; hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]; "
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))\n{MAIN}"
    )
    serve = Serve(tmp_path, program=few).start()
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    clients = []
    try:
        clients += [serve.connect() for _ in range(1000)]
        with pytest.raises(ConnectionError):
            serve.connect()
        assert clients[0].identity == clients[-1].identity
    finally:
        for client in clients:
            client.sock.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        serve.kill()


def test_too_few_open_files_are_warned_of(tmp_path: Path) -> None:
    few = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 300))\n{MAIN}"
    serve = Serve(tmp_path, program=few).start()
    assert "M0015" in serve.log
    assert serve.stop() == 0


# The parts


class Gone(io.StringIO):
    """A terminal that was closed."""

    def flush(self) -> None:
        raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize("stream", [None, Gone()])
def test_nobody_to_print_the_endpoints_to_is_no_fault(
    monkeypatch: pytest.MonkeyPatch, stream: Gone | None
) -> None:
    monkeypatch.setattr(sys, "stdout", stream)
    print_endpoints({"local": "/s"})


def test_refusals_are_told_with_cause_and_remedy() -> None:
    text = describe(QueueError(Hresult.MQ_ERROR_NO_DS, "no file"))
    assert "MQ_ERROR_NO_DS: no file" in text
    assert "cause: " in text
    assert "remedy: " in text
    assert describe(MsmqError("plain")) == "plain"


def test_a_short_recovery_shows_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    progress = RecoveryProgress()
    progress.update(1, 2)
    progress.update(2, 2)
    progress.close()
    assert capsys.readouterr().err == ""


def test_a_long_recovery_shows_how_far_it_is() -> None:
    shows = (
        "from openmsmq.cli.manager.serve import RecoveryProgress\n"
        "bar = RecoveryProgress(0.0)\n"
        "for part in range(2):\n"
        "    for done in range(0, 101, 10): bar.update(done, 100)\n"
        "bar.update(1, 2); bar.close(); bar.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", shows],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": "80"},
        timeout=60,
    )
    assert "recovering" in done.stderr
    assert "100%" in done.stderr
    assert done.stdout == ""
