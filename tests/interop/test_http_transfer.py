"""Two queue managers over HTTP and HTTPS, with everything around them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.interop.loopback import new_address
from tests.net.certificate import Authority

import openmsmq
from openmsmq import Message, QueueManager

COUNT = 100
SECONDS = 40.0


class Side(NamedTuple):
    """A queue manager, and the beginning of its queues' URLs."""

    manager: QueueManager
    url: str


@contextmanager
def side(folder: Path, name: str, authority: Authority | None) -> Iterator[Side]:
    address = new_address()
    settings: dict[str, Any] = {"http_port": 0}
    scheme = "http"
    if authority is not None:
        certificate, key = authority.issue(address)
        scheme = "https"
        settings = {
            "https_port": 8443,
            "https_certificate": certificate,
            "https_key": key,
            "https_ca": authority.file,
            "https_client_certificates": "required",
            "https_host": f"{address}:8443",
        }
    with openmsmq.embedded(folder / name, name=name, bind=address, **settings) as manager:
        endpoint = manager.status()["endpoints"][scheme]
        yield Side(manager, f"DIRECT={scheme.upper()}://{endpoint}/msmq/private$")


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
def test_messages_of_every_kind_arrive_in_order_and_are_acknowledged(
    tmp_path: Path,
    secure: bool,  # noqa: FBT001 - the case
) -> None:
    authority = Authority(tmp_path) if secure else None
    with side(tmp_path, "alpha", authority) as a, side(tmp_path, "beta", authority) as b:
        admin = f"{a.url}/acknowledgments"
        a.manager.create_queue(r".\private$\acknowledgments")
        b.manager.create_queue(r".\private$\plain")
        b.manager.create_queue(r".\private$\exact", transactional=True)
        for kind, queue in (("express", "plain"), ("recoverable", "plain"), ("exactly", "exact")):
            with a.manager.transaction() as work:
                for number in range(COUNT):
                    a.manager.send(
                        f"{b.url}/{queue}",
                        Message(
                            str(number),
                            kind,
                            delivery="express" if kind == "express" else "recoverable",
                            acknowledge="positive-receive",
                            admin_queue=admin,
                        ),
                        transaction=work if queue == "exact" else None,
                    )
            bodies = [message.body for message in take(b.manager, queue)]
            assert bodies == [str(number) for number in range(COUNT)], kind
            classes = {message.class_name for message in take(a.manager, "acknowledgments")}
            assert classes == {"MQMSG_CLASS_ACK_RECEIVE"}, kind
        deadline = time.monotonic() + SECONDS
        while any(each["messages"] for each in a.manager.outgoing()):
            assert time.monotonic() < deadline, a.manager.outgoing()
            time.sleep(0.05)


def take(manager: QueueManager, queue: str) -> list[openmsmq.ReceivedMessage]:
    """The next messages of a queue, all of those that are to come."""
    found: list[openmsmq.ReceivedMessage] = []
    deadline = time.monotonic() + SECONDS
    with manager.open_queue(rf".\private$\{queue}") as opened:
        while len(found) < COUNT:
            assert time.monotonic() < deadline, f"{len(found)} of {COUNT} arrived"
            found += opened.receive_many(COUNT, timeout=1.0)
    return found
