"""The examples of the specification are posted, on the day on which they were written."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.protocol.srmp.naive import NaiveHost, value
from tests.protocol.srmp.web import Node, Web

VECTORS = Path(__file__).parents[2] / "vectors" / "srmp"
EXPECTED: dict[str, dict[str, Any]] = json.loads((VECTORS / "expected.json").read_bytes())
POSTED = [name for name, expected in EXPECTED.items() if expected["http"] is not None]
LAYOUTS = {"indented": VECTORS, "compact": VECTORS / "wire"}
STREAM = ("4.4-1-stream-message-1", "4.4-3-stream-message-2", "4.4-5-stream-message-3")


def day_of(request: bytes) -> float:
    """A moment after the message was sent."""
    (text,) = re.findall(rb"<sentAt>(\w+)</sentAt>", request)
    sent = datetime.strptime(text.decode(), "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    return sent.timestamp() + 1.0


def machine(name: str, request: bytes) -> tuple[Web, Node]:
    """The machine of an example with all its queues."""
    web = Web()
    web.utc = day_of(request)
    node = web.node(name)
    for queue in ("simpleq", "receipts", "Q1"):
        node.create(rf".\private$\{queue}")
    node.create(r".\private$\tsimpleq", transactional=True)
    web.run()
    return web, node


def queue_of(destination: str) -> str:
    name = destination.lower().partition("private$/")[2].partition("?")[0]
    return rf".\private$\{name}"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", POSTED)
def test_an_example_is_answered_and_arrives_as_expected(name: str, layout: str) -> None:
    request = (LAYOUTS[layout] / f"{name}.http").read_bytes()
    expected = EXPECTED[name]
    host = expected["destination"].partition("://")[2].partition("/")[0]
    web, node = machine(host, request)
    web.hosts["machine1" if host == "machine2" else "machine2"] = NaiveHost()
    assert web.post(node, request) == [expected["http"]]
    if name in STREAM[1:]:
        # The others of its stream come before it.
        assert node.bodies(queue_of(expected["destination"])) == []
        return
    (message,) = node.messages(queue_of(expected["destination"]))
    ordinal, source = expected["id"]
    assert (message.message_id, str(message.source_queue_manager)) == (ordinal, source)
    assert message.label == (expected["label"] or "")
    assert len(message.body) == expected.get("bodyBytes", 0)
    assert message.message_class == expected.get("Class", 0)
    assert message.time_to_reach_queue == expected["ttrqSeconds"]
    assert message.priority == expected.get("priority", message.priority)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_receipts_of_an_example_go_where_it_says(layout: str) -> None:
    request = (LAYOUTS[layout] / "4.3-1-request.http").read_bytes()
    web, node = machine("machine2", request)
    peer = web.hosts["machine1"] = NaiveHost()
    assert web.post(node, request) == [200]
    node.receive(r".\private$\simpleq")
    web.run()
    delivery, commitment = peer.envelopes
    assert "<deliveryReceipt" in delivery
    assert value(commitment, "decision") == "positive"
    for text in (delivery, commitment):
        receipt = text.partition("Receipt")[2]
        assert value(receipt.partition("<Msmq")[0], "id") == f"uuid:1@{UUID(int=0)}"


@pytest.mark.parametrize("folder", [*LAYOUTS.values(), VECTORS / "normalized"])
def test_the_stream_of_the_examples_arrives_in_order_and_is_acknowledged(folder: Path) -> None:
    requests = [(folder / f"{name}.http").read_bytes() for name in STREAM]
    web, node = machine("machine2", requests[-1])
    peer = web.hosts["machine1"] = NaiveHost()
    assert web.post(node, *requests) == [200, 200, 200]
    assert len(node.bodies(r".\private$\tsimpleq")) == 3
    web.pass_time(1.0)
    (receipt,) = peer.envelopes
    assert value(receipt, "lastOrdinal") == "3"
    assert value(receipt, "streamId") == EXPECTED[STREAM[0]]["streamId"]
    assert value(receipt, "to") == value(requests[0].decode(), "sendReceiptsTo").strip()
    assert web.post(node, *requests) == [200, 200, 200]
    assert len(node.bodies(r".\private$\tsimpleq")) == 3
