"""Health and metrics of a queue manager with its console, as programs ask for them."""

import gzip
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest
from tests.admin.console_process import Watched, children, wait_until, watched
from tests.cli.running import run

import openmsmq

ORDERS = r".\private$\orders"


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("console")
    config = folder / "qm.toml"
    config.write_text("metrics_windows_names = true\n")
    with watched(folder, "--name", "ALPHA", "--config", str(config)) as running:
        assert running.run("queue", "create", ORDERS).code == 0
        yield running


def values(text: str) -> dict[str, float]:
    """Every series of a scrape."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {series: float(value) for series, _, value in (line.rpartition(" ") for line in lines)}


def scrape(manager: Watched, query: str = "") -> dict[str, float]:
    return values(manager.get(f"/metrics{query}").text)


def test_health_and_readiness(manager: Watched) -> None:
    for path in ("/healthz", "/readyz"):
        answer = manager.get(path)
        assert (answer.status, answer.text) == (200, "ok\n")
    for arguments in (("health",), ("health", "--ready")):
        done = manager.run(*arguments)
        assert (done.code, done.out) == (0, "ok\n")
    shown = manager.run("health", "--ready", "--json").object
    assert shown == {
        "ok": True,
        "checks": dict.fromkeys(("answers", "ready", "takes-messages", "listens")),
    }


def test_a_queue_manager_whose_quota_is_used_up_is_not_ready(manager: Watched) -> None:
    config = manager.data.parent / "qm.toml"
    usual = config.read_text()
    config.write_text(f"{usual}quota_kilobytes = 0\n")
    try:
        assert manager.run("reload").code == 0
        assert manager.run("send", ORDERS, "--body", "x").code == 1
        assert (manager.get("/healthz").status, manager.get("/readyz").status) == (200, 503)
        assert manager.get("/readyz").text == "takes-messages\n"
        done = manager.run("health", "--ready")
        assert "takes-messages: new messages are refused: quota_kilobytes is used up" in done.err
        assert "quota_kilobytes used up" in manager.run("status").out
        assert "quota_kilobytes, is used up" in manager.run("queue", "explain", ORDERS).out
    finally:
        config.write_text(usual)
        assert manager.run("reload").code == 0
    assert manager.get("/readyz").status == 200


def test_a_configuration_that_cannot_be_read_is_reported_once(manager: Watched) -> None:
    config = manager.data.parent / "qm.toml"
    usual = config.read_text()
    config.write_text(f"{usual}quota_kilobytes = -1\n")
    try:
        refused = manager.run("reload")
    finally:
        config.write_text(usual)
    assert (refused.code, refused.out) == (1, "Reloaded console\n")
    said = "config: quota_kilobytes: -1 is not in 0 to 4294967295; what was in force before stays\n"
    assert refused.err == said


def test_health_of_nobody(tmp_path: Path) -> None:
    done = run(["health", "--socket", str(tmp_path / "none.sock")])
    assert done.code == 1
    assert "answers: no queue manager answers" in done.err


def test_health_of_a_queue_manager_that_hangs(manager: Watched) -> None:
    manager.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        done = manager.run("health", "--ready")
        assert time.monotonic() - began < 15
    finally:
        manager.process.send_signal(signal.SIGCONT)
    assert done.code == 1
    assert "answers: the queue manager has not answered within 2 s\n" in done.err


def test_a_reload_says_what_was_read(manager: Watched) -> None:
    done = manager.run("reload", "--json")
    assert (done.code, done.object["failed"]) == (0, {})
    assert "console" in done.object["reloaded"]


def test_the_configuration_of_the_queue_manager_is_shown_too(manager: Watched) -> None:
    who = ("--principal", "user:root", "--role", "administrator")
    token = manager.run("console", "token", "add", "reader of keys", *who, "--json").object["token"]
    answer = manager.get("/api/v1/settings", Authorization=f"Bearer {token}")
    shown = json.loads(answer.content)
    assert shown["data"] == str(manager.data)
    # The console's own, where it has more than a key says.
    assert shown["folder"] == str(manager.data / "console")
    listed = {each["key"] for each in manager.run("config", "show", "--json").objects}
    assert listed <= set(shown)


def test_a_reload_brings_other_thresholds_which_outlive_the_console(manager: Watched) -> None:
    who = ("--principal", "user:root", "--role", "administrator")
    token = manager.run("console", "token", "add", "looker", *who, "--json").object["token"]

    def age() -> float | None:
        answer = manager.get("/api/v1/settings", Authorization=f"Bearer {token}")
        return json.loads(answer.content)["console_age_seconds"] if answer.status == 200 else None

    config = manager.data.parent / "qm.toml"
    usual = config.read_text()
    assert age() == 3600
    try:
        config.write_text(f"{usual}console_age_seconds = 17\nconsole_streams = 3\n")
        assert manager.run("reload").code == 0
        wait_until(lambda: age() == 17)
        (child,) = children(manager.process.pid)
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: children(manager.process.pid) not in ([], [child]))
        wait_until(lambda: age() == 17)
    finally:
        config.write_text(usual)
    assert manager.run("reload").code == 0
    wait_until(lambda: age() == 3600)
    assert manager.run("console", "token", "remove", "looker").code == 0


def test_a_queue_has_its_series_from_its_creation_to_its_deletion(manager: Watched) -> None:
    assert manager.run("queue", "create", r".\private$\young").code == 0
    mark = 'msmq_queue_messages{queue="private$\\\\young"}'
    wait_until(lambda: mark in scrape(manager))
    series = scrape(manager)
    for name in ("messages", "arrived_messages_total", "oldest_message_age_seconds", "readers"):
        assert series[f'msmq_queue_{name}{{queue="private$\\\\young"}}'] == 0
    assert manager.run("queue", "delete", r".\private$\young", "--yes").code == 0
    wait_until(lambda: not [name for name in scrape(manager) if "young" in name])


def test_counts_follow_messages_and_sums_are_those_of_status(manager: Watched) -> None:
    with openmsmq.connect(manager.socket) as client:
        queue = client.open_queue(ORDERS, "receive")
        queue.send_many([openmsmq.Message(b"x" * 100) for _ in range(20)])
        queue.receive(timeout=5)
        client.flush()
        status = client.status()
    mark = '{queue="private$\\\\orders"}'
    wait_until(lambda: scrape(manager)[f"msmq_queue_received_messages_total{mark}"] == 1)
    series = scrape(manager)
    assert series[f"msmq_queue_messages{mark}"] == 19
    assert series[f"msmq_queue_arrived_messages_total{mark}"] == 20
    assert series[f"msmq_queue_received_messages_total{mark}"] == 1
    assert series[f"msmq_queue_last_received_timestamp_seconds{mark}"] > 0
    messages = sum(
        value
        for name, value in series.items()
        if name.startswith(("msmq_queue_messages", "msmq_queue_journal_messages"))
    )
    assert messages == series["msmq_messages"] == status["messages"]
    assert series['windows_msmq_messages_in_queue{name="alpha\\\\private$\\\\orders"}'] == 19
    assert series['windows_msmq_messages_in_queue{name="Computer Queues"}'] >= 19
    assert series["msmq_store_flush_seconds_count"] > 0
    assert series["process_resident_memory_bytes"] > 1 << 20
    assert series['msmq_client_requests_total{request="Send"}'] > 0


def test_counters_never_go_back(manager: Watched) -> None:
    before = scrape(manager)
    after = scrape(manager)
    for name, value in before.items():
        if name.partition("{")[0].endswith(("_total", "_count", "_sum", "_bucket")):
            assert after[name] >= value, name


def test_queries_narrow_it(manager: Watched) -> None:
    series = scrape(manager, "?queue=*\\ORDERS&family=queue_messages&family=msmq_ready")
    assert set(series) == {'msmq_queue_messages{queue="private$\\\\orders"}', "msmq_ready"}


def test_formats_and_compression(manager: Watched) -> None:
    plain = manager.get("/metrics")
    assert plain.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    compressed = manager.get("/metrics", Accept_Encoding="gzip")
    assert compressed.headers["content-encoding"] == "gzip"
    assert b"msmq_ready 1" in gzip.decompress(compressed.content)
    wanted = manager.get("/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert wanted.headers["content-type"].startswith("application/openmetrics-text")
    assert wanted.text.endswith("# EOF\n")


def test_promtool_and_curl_are_content(manager: Watched, programs: None) -> None:
    text = subprocess.run(
        ["curl", "-s", "--compressed", f"http://{manager.console}/metrics"],
        capture_output=True,
        check=True,
    ).stdout
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


@pytest.fixture
def programs() -> None:
    if which("promtool") is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")


def test_history_survives_a_restart_of_the_console(manager: Watched) -> None:
    scrape(manager)
    (child,) = children(manager.process.pid)
    os.kill(child, signal.SIGTERM)
    wait_until((manager.data / "console" / "history").exists)
    assert manager.get("/healthz").status == 200
