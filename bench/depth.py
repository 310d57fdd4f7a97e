"""A queue manager with a million messages: restart, memory, and cost at three depths of the queue.

Reproduce with `python -m bench depth` (or `make bench`); add `--json` for one object per line. It
needs 3 GB of disk under the folder for temporary files and takes a few minutes.

A real `openmsmq serve` is filled with recoverable messages of 1 KiB, stopped and started, killed
and started. "Restart" is the time from the start of the process to the first message received from
the deepest queue, beside the ten seconds that we allow; "resident memory" is what the process has
after it, beside the gibibyte that we allow. Sends and receives go to queues of a thousand, a
hundred thousand and a million messages in turn, two hundred at a time, after a restart, so that all
packets are on disk; the figures are what the process of the queue manager spends, medians over the
rounds, and the floor is the shallowest queue: the cost must not grow with the depth.
"""

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final, Self

from bench.report import Result
from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.framing import FrameBuffer, frame
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.queue_address import direct_address

DEPTHS: Final = (1_000, 100_000, 1_000_000)
Depths = tuple[int, ...]
BODY_SIZE: Final = 1024
FILL: Final = 1_000
IN_FLIGHT: Final = 8
CHUNK: Final = 200
# The clock of the kernel ticks a hundred times a second: a round must take many ticks.
CHUNKS: Final = 100
ROUNDS: Final = 9
RESTART_SECONDS: Final = 10.0
MEMORY_BYTES: Final = 1 << 30
DEPTH_LIMIT: Final = 1.3
_TICK: Final = 1 / os.sysconf("SC_CLK_TCK")


class Client:
    """The local protocol with many requests in flight."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(str(path))
        self._buffer = FrameBuffer()
        self._replies: dict[int, local.AnyReply] = {}
        self._last_id = 0
        self.value(local.Hello, local.VERSION)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._socket.close()

    def post(self, kind: Any, *fields: Any, **named: Any) -> int:
        self._last_id += 1
        self._socket.sendall(frame(local.encode(kind(self._last_id, *fields, **named))))
        return self._last_id

    def wait(self, number: int) -> Any:
        while number not in self._replies:
            for payload in self._buffer.feed(self._socket.recv(1 << 20)):
                reply = local.decode_reply(payload)
                self._replies[reply.id] = reply
        reply = self._replies.pop(number)
        assert not isinstance(reply, local.Failed), reply
        return reply

    def value(self, kind: Any, *fields: Any, **named: Any) -> Any:
        return self.wait(self.post(kind, *fields, **named)).value

    def open(self, path: str, access: str) -> int:
        handle: int = self.value(local.OpenQueue, path, access)["handle"]
        return handle


class Server:
    """`openmsmq serve` as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.socket = folder / "openmsmq.sock"
        self._process: subprocess.Popen[bytes]

    def start(self) -> None:
        ready = self._folder / "ready"
        ready.unlink(missing_ok=True)
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", "from openmsmq.cli import main; main()", "serve"),
                *("--data", str(self._folder), "--name", "BENCH", "--ready-file", str(ready)),
                *("--binary-port", "off", "--ping-port", "off", "--console-port", "off"),
                *("--log-level", "warning"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not ready.exists():
            assert self._process.poll() is None, "the queue manager did not start"
            time.sleep(0.005)

    def end(self, number: int) -> None:
        self._process.send_signal(number)
        self._process.wait()

    def cpu_seconds(self) -> float:
        """What the process has spent so far."""
        raw = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(raw[11]) + int(raw[12])) * _TICK

    def resident_bytes(self) -> int:
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        (line,) = [each for each in status.splitlines() if each.startswith("VmRSS")]
        return int(line.split()[1]) * 1024


def path_of(depth: int) -> str:
    return rf".\private$\depth{depth}"


def packet_for(depth: int) -> bytes:
    return build_user_message(
        body=os.urandom(BODY_SIZE),
        destination_queue=direct_address(rf"OS:BENCH\private$\depth{depth}"),
        delivery_mode=1,
        label="depth",
    )


def fill(client: Client, depth: int) -> None:
    """Send as many messages as the queue is deep."""
    client.value(local.CreateQueue, path_of(depth), {})
    handle = client.open(path_of(depth), "send")
    packets = [packet_for(depth)] * FILL
    sent: list[int] = []
    for _ in range(depth // FILL):
        sent.append(client.post(local.Send, handle, packets))
        if len(sent) > IN_FLIGHT:
            client.wait(sent.pop(0))
    for number in sent:
        client.wait(number)


def restart(server: Server, depth: int, how: int) -> tuple[float, int]:
    """End the process and start it; seconds to the first message, and resident bytes then."""
    server.end(how)
    started = time.perf_counter()
    server.start()
    with Client(server.socket) as client:
        handle = client.open(path_of(depth), "receive")
        client.wait(client.post(local.Receive, handle))
        seconds = time.perf_counter() - started
    return seconds, server.resident_bytes()


class Line:
    """One queue of a given depth, open at both ends."""

    def __init__(self, client: Client, server: Server, depth: int) -> None:
        self._client = client
        self._server = server
        self._sender = client.open(path_of(depth), "send")
        self._reader = client.open(path_of(depth), "receive")
        self._packets = [packet_for(depth)] * CHUNK

    def round(self) -> tuple[float, float]:
        """Seconds of the queue manager to send and to receive one message."""
        client = self._client
        start = self._server.cpu_seconds()
        for _ in range(CHUNKS):
            client.wait(client.post(local.Send, self._sender, self._packets))
        sent = self._server.cpu_seconds()
        for _ in range(CHUNKS):
            found = client.wait(client.post(local.Receive, self._reader, count=CHUNK))
            assert len(found.packets) == CHUNK
        done = self._server.cpu_seconds()
        count = CHUNKS * CHUNK
        return (sent - start) / count, (done - sent) / count


def costs(server: Server, depths: Depths, rounds: int) -> dict[int, tuple[float, float]]:
    """Seconds to send and to receive one message, by depth."""
    with Client(server.socket) as client:
        lines = {depth: Line(client, server, depth) for depth in depths}
        taken: dict[int, list[tuple[float, float]]] = {depth: [] for depth in depths}
        for _ in range(rounds):
            for depth, line in lines.items():
                taken[depth].append(line.round())
    return {
        depth: (
            statistics.median(sent for sent, _ in figures),
            statistics.median(received for _, received in figures),
        )
        for depth, figures in taken.items()
    }


def restarts(server: Server, depths: Depths) -> list[Result]:
    """How long a start takes after a clean stop and after a crash, and how much memory."""
    results = []
    for word, how in (("stop", signal.SIGTERM), ("kill", signal.SIGKILL)):
        seconds, resident = restart(server, depths[-1], how)
        results += [
            Result(
                f"restart after a {word}: {seconds:.1f} s of {RESTART_SECONDS:.0f}",
                sum(depths) / seconds,
                seconds / RESTART_SECONDS,
                1.0,
            ),
            Result(
                f"memory after it: {resident >> 20} MiB of {MEMORY_BYTES >> 20}",
                sum(depths),
                resident / MEMORY_BYTES,
                1.0,
            ),
        ]
    return results


def run(depths: Depths = DEPTHS, rounds: int = ROUNDS) -> list[Result]:
    with tempfile.TemporaryDirectory(prefix="openmsmq-depth-") as name:
        server = Server(Path(name))
        server.start()
        try:
            with Client(server.socket) as client:
                started = time.perf_counter()
                for depth in depths:
                    fill(client, depth)
                seconds = time.perf_counter() - started
            results = [Result("fill, recoverable 1 KiB", sum(depths) / seconds)]
            results += restarts(server, depths)
            spent = costs(server, depths, rounds)
        finally:
            server.end(signal.SIGKILL)
    floor = spent[depths[0]]
    for at, word in enumerate(("send", "receive")):
        for depth in depths:
            cost = spent[depth][at]
            results.append(
                Result(f"{word}, depth {depth:,}", 1 / cost, cost / floor[at], DEPTH_LIMIT)
            )
    return results
