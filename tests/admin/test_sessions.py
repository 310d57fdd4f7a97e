"""Sessions of every transport, as the command, the API and the page show them."""

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.admin.callers import Program, add_token
from tests.admin.console_process import Watched, wait_until, watched
from tests.admin.orders import ORDERS
from tests.server.parts.posting import content

GROUP = "234.1.1.7:8001"
RATES = "_per_second"
pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("sessions")
    config = folder / "qm.toml"
    config.write_text('multicast_encapsulation = "udp"\n')
    options = ("--name", "alpha", "--http-port", "0", "--config", str(config))
    with watched(folder, *options) as running:
        running.run("queue", "create", ORDERS)
        running.run("queue", "create", r".\private$\prices", "--multicast", GROUP)
        yield running


@pytest.fixture(scope="module")
def program(manager: Watched) -> Program:
    return Program(manager, add_token(manager, "all"))


def listed(manager: Watched) -> dict[str, dict[str, Any]]:
    """The sessions as the command lists them, by transport."""
    sessions = manager.run("session", "list", "--json").objects
    return {session["transport"]: session for session in sessions}


def endpoint(manager: Watched) -> str:
    ready: Path = manager.data.with_name(f"{manager.data.name}.ready")
    address: str = json.loads(ready.read_text())["http"]
    return address


def test_command_api_and_page_show_the_same(manager: Watched, program: Program) -> None:
    address = endpoint(manager)
    with closing(http.client.HTTPConnection(address, timeout=20)) as connection:
        connection.request(
            "POST",
            "/msmq/private$/orders",
            content(f"http://{address}/msmq/private$/orders", b"posted"),
            {"Content-Type": "multipart/related; boundary=part; type=text/xml"},
        )
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"")
        sessions = listed(manager)
        assert set(sessions) == {"http", "multicast"}
        posted, group = sessions["http"], sessions["multicast"]
        assert (posted["protocol"], posted["direction"]) == ("srmp", "incoming")
        assert posted["address"].startswith("127.")
        assert (posted["incoming_messages"], posted["outgoing_messages"]) == (1, 0)
        assert posted["incoming_bytes"] > len(b"posted") < posted["outgoing_bytes"]
        assert (group["group"], group["sources"], group["lost_packets"]) == (GROUP, [], 0)

        entries = program.get("/sessions")["entries"]
        known = [{k: v for k, v in each.items() if not k.endswith(RATES)} for each in entries]
        assert {each["transport"]: each for each in known} == sessions
        page = program.ask("GET", "/sessions")[2].decode()
        text = manager.run("session", "list").out
        for words in ("srmp", "http", "multicast", posted["address"], GROUP):
            assert words in page
            assert words in text
        assert "0 sources" in page
        assert f"/api/v1/sessions/srmp/{posted['id']}/hang-up" in page
        assert f"/api/v1/sessions/multicast/{group['id']}/hang-up" not in page
        assert program.get("/status")["sessions"]["srmp"] == 1

        wait_until(
            lambda: all(rates_are_known(each) for each in program.get("/sessions")["entries"])
        )
        program.post(f"/sessions/srmp/{posted['id']}/hang-up", status=204)
        assert set(listed(manager)) == {"multicast"}


def rates_are_known(entry: dict[str, Any]) -> bool:
    return all(value is not None for name, value in entry.items() if name.endswith(RATES))
