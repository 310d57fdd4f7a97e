"""Clients over real sockets: who they are, what a death gives back."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.server.parts.local.filling import ORDERS, fill
from tests.server.raw_client import ROOT, RawClient, bodies, packet
from tests.server.threaded import Threaded, threaded

from openmsmq.protocol.local import messages as local
from openmsmq.security.caller import unix_user_sid
from openmsmq.wire.codes.queue_error import QueueError

OTHER_UID = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")

# Who a client is

AS_SOMEBODY_ELSE = """
import os, sys
from pathlib import Path
from tests.server.raw_client import RawClient, bodies, packet
from openmsmq.protocol.local import messages as local
from openmsmq.wire.codes.queue_error import QueueError
os.setgroups([]); os.setgid({uid}); os.setuid({uid})
client = RawClient.connect(Path(sys.argv[1]))
def attempt(action):
    try:
        return action() or "ok"
    except QueueError as exc:
        return exc.name
queue = sys.argv[2]
print(client.identity["sid"].hex())
print(attempt(lambda: client.open(queue)))
print(attempt(lambda: client.open(queue, "peek")))
print(attempt(lambda: client.send(client.open(queue, "send"), packet(b"from outside"))) and "sent")
print(attempt(lambda: client.value(local.DeleteQueue(client.next_id(), queue))))
print(attempt(lambda: client.value(local.Backup(client.next_id(), "/nowhere"))))
print(attempt(lambda: client.create(r".\\private$\\mine")["path"]))
print(attempt(lambda: client.open(r".\\private$\\mine") and "opened"))
"""


@needs_root
def test_another_user_is_known_by_the_kernel_and_held_to_its_rights(
    running: Threaded, client: RawClient
) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-c", AS_SOMEBODY_ELSE.format(uid=OTHER_UID)),
            *(str(running.config.socket_path), ORDERS),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == [
        unix_user_sid(OTHER_UID).serialize().hex(),
        "MQ_ERROR_ACCESS_DENIED",
        "MQ_ERROR_ACCESS_DENIED",
        "sent",
        "MQ_ERROR_ACCESS_DENIED",
        "MQ_ERROR_ACCESS_DENIED",
        r"ALPHA\private$\mine",
        "opened",
    ]
    assert bodies(client.receive(client.open(ORDERS))) == [b"from outside"]
    # The other way round: what is theirs is not ours, administrators or not.
    with pytest.raises(QueueError, match="MQ_ERROR_ACCESS_DENIED"):
        client.open(r".\private$\mine")


# A client that dies

DIES = """
import os, sys, signal
from pathlib import Path
from tests.server.raw_client import RawClient, packet
from openmsmq.protocol.local import messages as local
client = RawClient.connect(Path(sys.argv[1]))
plain, transactional = sys.argv[2:4]
handle = client.open(plain)
client.receive(handle, count=2, two_phase=True)
transaction = client.begin()
client.receive(client.open(transactional), transaction=transaction)
client.send(client.open(transactional, "send"), packet(b"never"), transaction=transaction)
print("ready", flush=True)
signal.pause()
"""


def test_a_client_that_is_killed_gives_back_what_it_had_in_place(
    running: Threaded, client: RawClient
) -> None:
    other = r".\private$\other"
    client.create(other, transactional=True)
    fill(client, b"one", b"two", b"three")
    client.send(client.open(other, "send"), packet(b"first"), packet(b"second"), transaction=-1)
    handle, transactional = client.open(ORDERS), client.open(other)
    before = client.receive(handle, action="peek", count=9).lookup_ids
    with subprocess.Popen(
        [sys.executable, "-c", DIES, str(running.config.socket_path), ORDERS, other],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert bodies(client.receive(handle, action="peek", count=9)) == [b"three"]
        assert bodies(client.receive(transactional, action="peek", count=9)) == [b"second"]
        waiting = local.Receive(client.next_id(), transactional, "peek", timeout=20.0)
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while client.count(ORDERS) != 3 or len(peeked := shown(client, handle)) != 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert peeked == [b"one", b"two", b"three"]
    assert client.receive(handle, action="peek", count=9).lookup_ids == before
    assert isinstance(client.call(waiting), local.Messages)
    found = client.receive(transactional, count=9)
    assert bodies(found) == [b"first", b"second"]
    assert found.counters == [(0, 1, 0, 0.0)]


def shown(client: RawClient, handle: int) -> list[bytes]:
    return bodies(client.receive(handle, action="peek", count=9))


def test_a_client_that_leaves_while_its_batch_is_written_loses_nothing(
    running: Threaded, client: RawClient
) -> None:
    for number in range(30):
        with running.connect() as other:
            handle = other.open(ORDERS, "send")
            other.post(local.Send(other.next_id(), handle, [packet(b"%d" % number)] * 10))
    deadline = time.monotonic() + 10
    while client.count(ORDERS) < 300 and time.monotonic() < deadline:
        time.sleep(0.01)
    # Each request was carried out whole or not at all, in the order of its client.
    found = bodies(client.receive(client.open(ORDERS), count=500))
    assert len(found) % 10 == 0
    assert {found.count(body) for body in found} <= {10}


def test_a_receive_whose_reply_was_never_read_takes_effect_once(
    running: Threaded, client: RawClient
) -> None:
    fill(client, b"one", b"two")
    with running.connect() as other:
        handle = other.open(ORDERS)
        other.post(local.Receive(other.next_id(), handle))
    deadline = time.monotonic() + 10
    while client.count(ORDERS) != 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert bodies(client.receive(client.open(ORDERS), count=9)) == [b"two"]


def test_a_stop_gives_what_one_client_held_to_no_other(tmp_path: Path) -> None:
    with threaded(tmp_path) as running:
        holder = running.connect()
        holder.create(ORDERS)
        fill(holder, b"one", b"two")
        handle = holder.open(ORDERS)
        reply = holder.receive(handle, count=9, two_phase=True)
        assert bodies(reply) == [b"one", b"two"]
        readers = [running.connect() for _ in range(10)]
        for reader in readers:
            number = reader.open(ORDERS)
            reader.post(local.Receive(reader.next_id(), number, timeout=20.0))
            # The reply to a later request shows that the read waits.
            reader.value(local.GetStatus(reader.next_id()))
        running.stop()
        for each in (holder, *readers):
            each.sock.close()
    with threaded(tmp_path) as running, running.connect() as client:
        assert bodies(client.receive(client.open(ORDERS), count=9)) == [b"one", b"two"]
