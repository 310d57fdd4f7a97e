"""The files for Prometheus and Grafana: rules, their test, and a Prometheus that scrapes."""

import json
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.admin.console_process import Watched, get, wait_until, watched
from tests.admin.metrics.faulty_machine import (
    FAULTS,
    JOURNAL_MESSAGES,
    Machine,
    machine_at,
    settings_for,
)

import openmsmq
from openmsmq.admin import metrics

FILES = Path(metrics.__path__[0]) / "files"
DOCUMENT = Path(__file__).parents[3] / "docs" / "metrics.md"
ORDERS = r".\private$\orders"
INTERVAL = "1s"


@pytest.fixture(autouse=True)
def _programs() -> None:
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        pytest.skip("prometheus is not installed (Debian: prometheus)")


def promtool(*arguments: str) -> str:
    done = subprocess.run(
        ["promtool", *arguments], cwd=FILES, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_rules_are_sound_and_each_alert_fires_on_its_fault_only() -> None:
    assert "SUCCESS" in promtool("check", "rules", "rules.yml")
    assert "SUCCESS" in promtool("test", "rules", "rules_test.yml")


def test_the_page_lists_every_alert() -> None:
    alerts = re.findall(r"- alert: (\w+)", (FILES / "rules.yml").read_text())
    assert alerts == re.findall(r"(?m)^\| `(Msmq\w+)`", DOCUMENT.read_text())


@pytest.fixture(scope="module")
def managers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Watched]]:
    """Two queue managers that have done a bit of everything."""
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    with (
        watched(folders[0], "--name", "ONE", "--binary-port", "0") as one,
        watched(folders[1], "--name", "TWO") as two,
    ):
        for manager in (one, two):
            with openmsmq.connect(manager.socket) as client:
                queue = client.create_queue(ORDERS, transactional=True)
                with client.transaction() as transaction:
                    queue.send(openmsmq.Message(b"1"), transaction=transaction)
        with openmsmq.connect(one.socket) as client:
            # Nobody listens there.
            client.send("DIRECT=TCP:127.9.9.9\\private$\\away", openmsmq.Message(b"x"))
            client.flush()
        yield [one, two]


@pytest.fixture(scope="module")
def prometheus(managers: list[Watched], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prometheus that scrapes both."""
    folder = tmp_path_factory.mktemp("prometheus")
    with scraped_by(folder, managers, FILES / "rules.yml") as address:
        yield address


@contextmanager
def scraped_by(folder: Path, managers: list[Watched], rules: Path) -> Iterator[str]:
    """The address of a Prometheus that scrapes these and evaluates rules."""
    targets = ", ".join(f'"{manager.console}"' for manager in managers)
    (folder / "prometheus.yml").write_text(
        f"global: {{scrape_interval: {INTERVAL}, evaluation_interval: {INTERVAL}}}\n"
        f"rule_files: [{rules}]\n"
        f"scrape_configs: [{{job_name: msmq, static_configs: [{{targets: [{targets}]}}]}}]\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [
        *("prometheus", f"--config.file={folder / 'prometheus.yml'}"),
        *(f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={address}"),
        "--log.level=warn",
    ]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            wait_until(lambda: is_open(address) and get(f"http://{address}/-/ready").status == 200)
            yield f"http://{address}"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def is_open(address: str) -> bool:
    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port)), 1).close()
    except OSError:
        return False
    return True


def query(prometheus: str, expression: str) -> list[dict[str, Any]]:
    text = get(f"{prometheus}/api/v1/query?query={urllib.parse.quote(expression)}").text
    found: list[dict[str, Any]] = json.loads(text)["data"]["result"]
    return found


def test_a_real_prometheus_scrapes_two_queue_managers(
    prometheus: str, managers: list[Watched]
) -> None:
    wait_until(lambda: len(query(prometheus, "msmq_ready == 1")) == 2)
    wait_until(lambda: query(prometheus, "msmq:queue_arrived_messages:rate1m"))
    assert all(each["value"][1] == "1" for each in query(prometheus, "up"))
    (young,) = query(prometheus, 'msmq_info{name="TWO"}')
    assert young["metric"]["instance"] == managers[1].console


def test_every_query_of_the_dashboard_returns_data(prometheus: str) -> None:
    dashboard = json.loads((FILES / "dashboard.json").read_text())
    expressions = [
        target["expr"].replace("$__rate_interval", "1m")
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
    ]
    assert len(expressions) > 20
    deadline = time.monotonic() + 60
    missing = expressions
    while missing and time.monotonic() < deadline:
        missing = [each for each in missing if not query(prometheus, each)]
        time.sleep(0.2)
    assert not missing


def test_no_alert_fires_while_all_is_well(prometheus: str) -> None:
    wait_until(lambda: len(query(prometheus, "msmq_ready == 1")) == 2)
    assert query(prometheus, 'ALERTS{alertstate="firing"}') == []


# Faults in real queue managers


def test_every_alert_has_a_fault() -> None:
    alerts = re.findall(r"- alert: (\w+)", (FILES / "rules.yml").read_text())
    assert frozenset(alerts) == frozenset().union(*(fault.alerts for fault in FAULTS))


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_each_made_fault_fires_its_alert_and_no_other(tmp_path: Path) -> None:
    rules = tmp_path / "rules.yml"
    # What is wrong now is told now.
    text = re.sub(r"(?m)^ +for: .*\n", "", (FILES / "rules.yml").read_text())
    text = text.replace("_bucket[5m]", "_bucket[30s]")
    text = re.sub(r"(_over_time\(msmq_queue_messages[^ ]*)\[5m\]", r"\1[3s]", text)
    rules.write_text(text.replace("100000", str(JOURNAL_MESSAGES)))
    with ExitStack() as stack:
        machines: list[Machine] = []
        for number, fault in enumerate(FAULTS):
            # The path of a socket is short.
            folder = tmp_path / str(number)
            folder.mkdir()
            settings = settings_for(fault, folder)
            machines.append(stack.enter_context(machine_at(folder, **settings)))
        folder = tmp_path / "prometheus"
        folder.mkdir()
        managers = [machine.manager for machine in machines]
        prometheus = stack.enter_context(scraped_by(folder, managers, rules))
        wait_until(lambda: len(query(prometheus, "msmq_ready == 1")) == len(managers))
        for fault, machine in zip(FAULTS, machines, strict=True):
            fault.make(machine)
        wanted = {fault.make.__name__: fault.alerts for fault in FAULTS}
        deadline = time.monotonic() + 60
        while (found := alerts_of(prometheus, managers)) != wanted and time.monotonic() < deadline:
            time.sleep(0.5)
        assert found == wanted


def alerts_of(prometheus: str, managers: list[Watched]) -> dict[str, frozenset[str]]:
    """The alerts that fire for the queue manager of each fault."""
    return {
        fault.make.__name__: firing(prometheus, manager)
        for fault, manager in zip(FAULTS, managers, strict=True)
    }


def firing(prometheus: str, manager: Watched) -> frozenset[str]:
    """The alerts that fire for a queue manager."""
    alerts = query(prometheus, f'ALERTS{{alertstate="firing", instance="{manager.console}"}}')
    return frozenset(each["metric"]["alertname"] for each in alerts)
