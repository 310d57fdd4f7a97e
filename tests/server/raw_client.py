"""A client of the local protocol that does no more than it is told, for tests of the server."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

from openmsmq.protocol.local import messages as local
from openmsmq.protocol.local.framing import FrameBuffer, frame
from openmsmq.wire.codes.queue_error import QueueError
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_builder import build_user_message
from openmsmq.wire.names.direct_format_name import DirectFormatName
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.names.queue_address_names import address_of

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 30.0
PORTS_OFF: Final = tuple(
    word
    for port in ("binary", "ping", "rpc", "qm2qm", "epm", "http", "console")
    for word in (f"--{port}-port", "off")
)


class RawClient:
    """One connection; requests and replies as they are on the wire."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        sock.settimeout(TIMEOUT)
        self._buffer = FrameBuffer()
        self._replies: dict[int, list[local.AnyReply]] = {}
        self._last_id = 0
        self.identity: dict[str, Any] = {}

    @classmethod
    def connect(cls, path: Path, *, hello: bool = True) -> Self:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.connect(str(path))
        client = cls(sock)
        try:
            if hello:
                client.hello()
        except BaseException:
            sock.close()
            raise
        return client

    @classmethod
    def connect_tls(cls, address: str, certificate: Path) -> Self:
        host, port = address.rsplit(":", 1)
        context = ssl.create_default_context(cafile=str(certificate))
        plain = socket.create_connection((host, int(port)), TIMEOUT)
        return cls(context.wrap_socket(plain, server_hostname=host))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.sock.close()

    def hello(self, token: str = "") -> dict[str, Any]:
        self.identity = self.value(local.Hello(self.next_id(), local.VERSION, token))
        return self.identity

    # The wire

    def next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def post(self, *requests: local.Request) -> None:
        self.sock.sendall(b"".join(frame(local.encode(request)) for request in requests))

    def wait(self, request: local.Request | int) -> local.AnyReply:
        """The next reply to a request; ConnectionError when the server hung up."""
        number = request if isinstance(request, int) else request.id
        while not self._replies.get(number):
            data = self.sock.recv(1 << 20)
            if not data:
                raise ConnectionError("the queue manager hung up")
            for payload in self._buffer.feed(data):
                reply = local.decode_reply(payload)
                self._replies.setdefault(reply.id, []).append(reply)
        return self._replies[number].pop(0)

    def arrived(self, request: local.Request) -> bool:
        """Whether a reply has been read already."""
        return bool(self._replies.get(request.id))

    def call(self, request: local.Request) -> local.AnyReply:
        self.post(request)
        return self.wait(request)

    def value(self, request: local.Request) -> Any:
        reply = self.call(request)
        if not isinstance(reply, local.Part):
            return value_of(reply)
        values = list(reply.values)
        while not reply.last:
            more = self.wait(request)
            assert isinstance(more, local.Part)
            reply = more
            values += reply.values
        return values

    def hung_up(self) -> bool:
        """Whether the server has closed the connection (waits for it)."""
        try:
            while self.sock.recv(1 << 16):
                pass
        except ConnectionError:
            pass
        return True

    # Requests that many tests make

    def create(self, path: str, **properties: bool | int | str | None) -> Any:
        return self.value(local.CreateQueue(self.next_id(), path, properties))

    def open(self, name: str, access: str = "receive", share: str = "deny_none") -> int:
        opened = self.value(local.OpenQueue(self.next_id(), name, access, share))
        handle: int = opened["handle"]
        return handle

    def send(self, handle: int, *packets: bytes, transaction: int = 0) -> int:
        first: int = self.value(local.Send(self.next_id(), handle, list(packets), transaction))
        return first

    def receive(self, handle: int, **parameters: Any) -> local.Messages:
        reply = self.call(local.Receive(self.next_id(), handle, **parameters))
        if isinstance(reply, local.Failed):
            raise QueueError(reply.code, reply.text)
        assert isinstance(reply, local.Messages)
        return reply

    def begin(self) -> int:
        request = local.BeginTransaction(self.next_id())
        self.value(request)
        return request.id

    def end(self, transaction: int, *, commit: bool) -> None:
        self.value(local.EndTransaction(self.next_id(), transaction, commit))

    def count(self, path: str) -> int:
        shown: int = self.value(local.ShowQueue(self.next_id(), path))["messages"]
        return shown


def value_of(reply: local.AnyReply) -> Any:
    """What a request was answered with.

    Raises:
        QueueError: it was refused.
    """
    if isinstance(reply, local.Failed):
        raise QueueError(reply.code, reply.text)
    assert isinstance(reply, local.Done), reply
    return reply.value


def packet(
    body: bytes = b"body", queue: str = r"private$\orders", *, express: bool = False, **rest: Any
) -> bytes:
    """A packet as a client builds it."""
    name = parse_format_name(rf"DIRECT=OS:ALPHA\{queue}")
    assert isinstance(name, DirectFormatName)
    rest.setdefault("destination_queue", address_of(name))
    return build_user_message(body=body, delivery_mode=0 if express else 1, **rest)


def bodies(messages: local.Messages) -> list[bytes]:
    return [UserMessage(each).body for each in messages.packets]


# A real process


class Serve:
    """`openmsmq serve` as a process of its own."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        environ: dict[str, str] | None = None,
        program: str = "from openmsmq.cli import main; main()",
    ) -> None:
        self.data = folder / "data"
        self.ready_file = folder / "ready.json"
        self.log_file = folder / "log"
        self.socket = self.data / "openmsmq.sock"
        self._options = options
        self._program = program
        self._environ = environ or {}
        self.process: subprocess.Popen[bytes]

    def start(self, timeout: float = 60.0) -> Self:
        """Start and wait until it is ready."""
        self.ready_file.unlink(missing_ok=True)
        self.spawn()
        end = time.monotonic() + timeout
        while not self.ready_file.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"no queue manager: {self.log_file.read_text()}")
            time.sleep(0.005)
        return self

    def spawn(self) -> None:
        command = [
            *(sys.executable, "-c", self._program),
            *("serve", "--data", str(self.data), "--name", "ALPHA"),
            *("--ready-file", str(self.ready_file)),
            *PORTS_OFF,
            *self._options,
        ]
        with self.log_file.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=ROOT, env={**os.environ, **self._environ}
            )

    def connect(self) -> RawClient:
        return RawClient.connect(self.socket)

    def kill(self) -> None:
        """Pull the plug."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop cleanly; returns the exit code."""
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT)

    @property
    def log(self) -> str:
        return self.log_file.read_text()


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Serve]:
    """A running queue manager that is gone afterwards."""
    serve = Serve(folder, *options).start()
    try:
        yield serve
    finally:
        if serve.process.poll() is None:
            serve.kill()
