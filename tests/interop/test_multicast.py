"""Queue managers that send to each other by multicast, over real sockets on loopback."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.interop.loopback import new_address

import openmsmq
from openmsmq import Message, QueueManager

COUNT = 100
SECONDS = 40.0
OFF: dict[str, Any] = dict.fromkeys(
    ("binary_port", "ping_port", "rpc_port", "qm2qm_port", "epm_port", "http_port"), "off"
)
# Groups and ports that no other test uses at the same time.
_numbers = count(1)
ENCAPSULATIONS = ["udp", "raw"]


def new_group() -> str:
    return f"239.{os.getpid() >> 8 & 0xFF}.{os.getpid() & 0xFF}.{next(_numbers)}:8001"


def need_raw(encapsulation: str) -> None:
    if encapsulation == "raw":
        try:
            socket.socket(socket.AF_INET, socket.SOCK_RAW, 113).close()
        except OSError:
            pytest.skip("needs CAP_NET_RAW, for sockets of raw IP")


def settings_of(encapsulation: str, **others: Any) -> dict[str, Any]:
    return {"multicast_encapsulation": encapsulation, "multicast_rate": 1e6, **OFF, **others}


@contextmanager
def machine(
    folder: Path, name: str, encapsulation: str = "udp", **settings: Any
) -> Iterator[QueueManager]:
    settings.setdefault("bind", new_address())
    settings = settings_of(encapsulation, **settings)
    settings.setdefault("multicast_window_seconds", 60.0)
    with openmsmq.embedded(folder / name, name=name, **settings) as manager:
        yield manager


def take(manager: QueueManager, queue: str, total: int = COUNT) -> list[str]:
    """The bodies of the next messages of a queue, all of those that are to come."""
    found: list[str] = []
    deadline = time.monotonic() + SECONDS
    with manager.open_queue(rf".\private$\{queue}") as opened:
        while len(found) < total:
            assert time.monotonic() < deadline, f"{len(found)} of {total} arrived"
            found += [str(each.body) for each in opened.receive_many(total, timeout=1.0)]
    return found


def wait_until_sent(manager: QueueManager) -> None:
    deadline = time.monotonic() + SECONDS
    while any(each["messages"] for each in manager.outgoing()):
        assert time.monotonic() < deadline, manager.outgoing()
        time.sleep(0.02)


@pytest.mark.spec("MQSRM-2.1.2-01", "MQSRM-2.1.2-03", "MQSRM-3.1.7.9-02")
@pytest.mark.parametrize("encapsulation", ENCAPSULATIONS)
def test_every_queue_that_listens_gets_every_message_in_order(
    tmp_path: Path, encapsulation: str
) -> None:
    need_raw(encapsulation)
    group = new_group()
    with (
        machine(tmp_path, "alpha", encapsulation) as alpha,
        machine(tmp_path, "beta", encapsulation) as beta,
        machine(tmp_path, "gamma", encapsulation) as gamma,
    ):
        beta.create_queue(r".\private$\one", multicast=group)
        beta.create_queue(r".\private$\two", multicast=group)
        gamma.create_queue(r".\private$\three", multicast=group)
        # The sender's own machine may listen, too.
        alpha.create_queue(r".\private$\own", multicast=group)
        time.sleep(0.05)
        bodies = [f"{number} " + "x" * (number * 40) for number in range(COUNT)]
        for number, body in enumerate(bodies):
            delivery = "recoverable" if number % 2 else "express"
            alpha.send(f"MULTICAST={group}", Message(body, "price", delivery=delivery))
        for manager, queue in ((beta, "one"), (beta, "two"), (gamma, "three"), (alpha, "own")):
            assert take(manager, queue) == bodies
        wait_until_sent(alpha)
        (outgoing,) = alpha.outgoing()
        assert (outgoing["transport"], outgoing["state"], outgoing["next_hop"]) == (
            "multicast",
            "CONNECTED",
            group,
        )


@pytest.mark.spec("MQSRM-2.1.2-02", "MQSRM-4.5-02")
def test_another_port_gets_nothing_and_nothing_is_answered(tmp_path: Path) -> None:
    group = new_group()
    other = group.replace(":8001", ":8002")
    with machine(tmp_path, "alpha") as alpha, machine(tmp_path, "beta") as beta:
        alpha.create_queue(r".\private$\answers")
        beta.create_queue(r".\private$\other", multicast=other)
        beta.create_queue(r".\private$\one", multicast=group)
        message = Message(
            "x", acknowledge="full", admin_queue=r".\private$\answers", delivery="express"
        )
        alpha.send(f"MULTICAST={group}", message)
        assert take(beta, "one", 1) == ["x"]
        assert [queue["messages"] for queue in beta.queues() if "other" in queue["path"]] == [0]
        assert [queue["messages"] for queue in alpha.queues() if "answers" in queue["path"]] == [0]
        assert beta.outgoing() == []


def test_a_queue_listens_as_long_as_it_has_the_address(tmp_path: Path) -> None:
    group = new_group()
    with machine(tmp_path, "alpha") as alpha, machine(tmp_path, "beta") as beta:

        def send(body: str) -> None:
            alpha.send(f"MULTICAST={group}", Message(body))
            wait_until_sent(alpha)
            time.sleep(0.1)

        send("before")
        beta.create_queue(r".\private$\one", multicast=group)
        beta.create_queue(r".\private$\two")
        send("first")
        assert take(beta, "one", 1) == ["first"]
        beta.set_queue(r".\private$\two", multicast=group)
        beta.set_queue(r".\private$\one", multicast="")
        send("second")
        assert take(beta, "two", 1) == ["second"]
        beta.delete_queue(r".\private$\two")
        send("third")
        assert [queue["messages"] for queue in beta.queues() if "one" in queue["path"]] == [0]


def test_a_queue_listens_again_after_a_restart(tmp_path: Path) -> None:
    group, bind = new_group(), new_address()
    with machine(tmp_path, "beta", bind=bind) as beta:
        beta.create_queue(r".\private$\one", multicast=group)
    with machine(tmp_path, "alpha") as alpha, machine(tmp_path, "beta", bind=bind) as beta:
        alpha.send(f"MULTICAST={group}", Message("after"))
        assert take(beta, "one", 1) == ["after"]


def test_a_recoverable_message_leaves_after_a_restart_of_its_source(tmp_path: Path) -> None:
    group, bind = new_group(), new_address()
    # Multicast is off, as in a version that did not have it.
    with machine(tmp_path, "alpha", bind=bind, multicast=False) as alpha:
        alpha.send(f"MULTICAST={group}", Message("kept", delivery="recoverable"))
        alpha.send(f"MULTICAST={group}", Message("forgotten", delivery="express"))
        (outgoing,) = alpha.outgoing()
        assert outgoing["reason"] == "multicast is switched off: the key multicast is false"
        assert (outgoing["state"], outgoing["messages"]) == ("WAITING", 2)
    with machine(tmp_path, "beta") as beta:
        beta.create_queue(r".\private$\one", multicast=group)
        with machine(tmp_path, "alpha", bind=bind) as alpha:
            assert take(beta, "one", 1) == ["kept"]
            wait_until_sent(alpha)
            (outgoing,) = alpha.outgoing()
            assert (outgoing["reason"], outgoing["last_error"]) == ("", "")


def test_an_outgoing_queue_can_be_paused(tmp_path: Path) -> None:
    group = new_group()
    with machine(tmp_path, "alpha") as alpha, machine(tmp_path, "beta") as beta:
        beta.create_queue(r".\private$\one", multicast=group)
        alpha.send(f"MULTICAST={group}", Message("first"))
        assert take(beta, "one", 1) == ["first"]
        alpha.pause_outgoing(f"MULTICAST={group}")
        alpha.send(f"MULTICAST={group}", Message("second"))
        (outgoing,) = alpha.outgoing()
        assert (outgoing["state"], outgoing["reason"]) == ("ONHOLD", "paused")
        alpha.resume_outgoing(f"MULTICAST={group}")
        assert take(beta, "one", 1) == ["second"]


@pytest.mark.spec("MQSRM-2.1.3.1-18")
def test_what_does_not_fit_is_refused_at_the_send(tmp_path: Path) -> None:
    group = new_group()
    with machine(tmp_path, "alpha") as alpha, machine(tmp_path, "beta") as beta:
        beta.create_queue(r".\private$\one", multicast=group)
        too_large = "takes 6[0-9]* bytes, more than 65536"
        with alpha.open_queue(f"MULTICAST={group}", access="send") as opened:
            with pytest.raises(openmsmq.QueueError, match=too_large) as caught:
                opened.send_and_wait(Message(b"x" * 65_000))
            opened.send_and_wait(Message(b"y" * 64_000))
        assert caught.value.name == "MQ_ERROR_INSUFFICIENT_RESOURCES"
        assert take(beta, "one", 1) == ["y" * 64_000]
        with (
            pytest.raises(openmsmq.QueueError, match="cannot be sent in a transaction"),
            alpha.transaction() as work,
        ):
            alpha.send(f"MULTICAST={group}", Message("z"), transaction=work)


# Programs

WITHOUT_PRIVILEGE = (
    "import ctypes, os, sys; "
    "assert ctypes.CDLL(None).prctl(24, 13, 0, 0, 0) == 0; "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give up CAP_NET_RAW")
def test_without_the_right_to_raw_ip_one_line_says_so_and_so_does_the_queue(
    tmp_path: Path,
) -> None:
    command = Path(sys.executable).parent / "openmsmq"
    ready = tmp_path / "ready.json"
    options = [f"--{key.replace('_', '-')}=off" for key in OFF]
    arguments = [f"--data={tmp_path / 'data'}", f"--bind={new_address()}", f"--ready-file={ready}"]
    program = [sys.executable, "-c", WITHOUT_PRIVILEGE, sys.executable, str(command)]
    with subprocess.Popen(
        [*program, "serve", *options, *arguments],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            deadline = time.monotonic() + SECONDS
            while not ready.exists():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            with openmsmq.connect(json.loads(ready.read_text())["local"]) as manager:
                manager.send("MULTICAST=239.1.2.3:8001", Message("waits"))
                deadline = time.monotonic() + SECONDS
                while not (outgoing := manager.outgoing()[0])["reason"].startswith("raw IP"):
                    assert time.monotonic() < deadline, outgoing
                    time.sleep(0.05)
        finally:
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=SECONDS)
    assert outgoing["state"] == "WAITING"
    assert "needs root or the capability CAP_NET_RAW" in outgoing["reason"]
    assert outgoing["last_error"] == outgoing["reason"]
    lines = [line for line in errors.splitlines() if "M0080" in line]
    assert len(lines) == 1
    assert "CAP_NET_RAW" in lines[0]
