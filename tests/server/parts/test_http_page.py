"""The page about HTTP: its script posts messages and asks for receipts, with curl alone."""

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from tests.interop.loopback import new_address
from tests.server.threaded import threaded

import openmsmq

PAGE = Path(__file__).parents[3] / "docs" / "http.md"
ORDERS = r".\private$\orders"
RECEIPTS = r".\private$\receipts"
REQUEST = (
    "<services><durable/><deliveryReceiptRequest><sendTo>{}</sendTo></deliveryReceiptRequest>"
    "<commitmentReceiptRequest><sendTo>{}</sendTo><positiveOnly/><negativeOnly/>"
    "</commitmentReceiptRequest></services>"
)

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


def script(folder: Path) -> Path:
    """The script of the page, in a file."""
    (text,) = re.findall(r"```shell\n(#!/bin/sh\n.*?)```", PAGE.read_text(), re.DOTALL)
    file = folder / "post.sh"
    file.write_text(text)
    return file


def test_the_script_posts_a_message_and_asks_for_a_receipt(tmp_path: Path) -> None:
    address = new_address()
    file = script(tmp_path)
    with threaded(tmp_path / "data", bind=address, http_port=0) as process:
        base = f"http://{process.process.endpoints['http']}/msmq/private$"

        def post(queue: str, body: str, services: str = "") -> list[str]:
            done = subprocess.run(
                ["sh", str(file), f"{base}/{queue}", body],
                env={"PATH": "/usr/bin:/bin", "services": services},
                capture_output=True,
                text=True,
                timeout=30,
                check=True,
            )
            return done.stdout.split()

        with openmsmq.connect(process.config.socket_path) as manager:
            orders = manager.create_queue(ORDERS)
            receipts = manager.create_queue(RECEIPTS)
            status, identifier = post("orders", "one pizza")
            assert status == "200"
            message = orders.receive(timeout=10)
            assert (message.body, message.id) == ("one pizza", identifier)
            assert post("missing", "one pizza")[0] == "400"
            status, identifier = post(
                "orders", "two pizzas", REQUEST.format(*[f"{base}/receipts"] * 2)
            )
            assert status == "200"
            for name in ("MQMSG_CLASS_ACK_REACH_QUEUE", "MQMSG_CLASS_ACK_RECEIVE"):
                receipt = receipts.receive(timeout=10)
                assert (receipt.class_name, receipt.correlation_id) == (name, identifier)
                if orders.count():
                    assert orders.receive(timeout=10).body == "two pizzas"


def test_the_page_shows_the_reason_why_a_message_has_not_left(tmp_path: Path) -> None:
    assert "`the host name beta could not be resolved`" in PAGE.read_text()
    with (
        threaded(tmp_path / "data", bind=new_address()) as process,
        openmsmq.connect(process.config.socket_path) as manager,
    ):
        manager.send("DIRECT=HTTP://no-such-host.invalid/msmq/q", openmsmq.Message(body="lost"))
        while not (error := manager.outgoing()[0]["last_error"]):
            time.sleep(0.02)
        assert error == "the host name no-such-host.invalid could not be resolved"
