"""One reader of a queue in a process of its own, which tells how long it took.

    python -m bench.peers.remote_reader KIND ADDRESS QUEUE COUNT [USER PASSWORD]

KIND is `local` (the local protocol, as many ahead as its client reads), `many` (remote read with
many calls in flight), `one` (remote read, one message after the other) or `impacket` (the same by
impacket's RPC with our stubs). Every message is received and acknowledged. The last line of the
output is the time in seconds from the first to the last message.
"""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import openmsmq
from openmsmq.wire.codes.endpoints import REMOTE_READ
from openmsmq.wire.names.format_name import parse_format_name
from openmsmq.wire.ndr import NDR, Call
from openmsmq.wire.remote_read.queue_format import QueueFormat
from openmsmq.wire.remote_read.remote_read_message import RemoteReadMessage
from openmsmq.wire.remote_read.section_buffer import join_sections
from openmsmq.wire.rpc.syntax import SyntaxId
from openmsmq.wire.rpc_interfaces import remote_read as calls

BODY_BYTES: Final = 1024
UNLIMITED: Final = 0xFFFFFFFF
RECEIVE: Final = 1
RR_ACK: Final = 2
PRIVACY: Final = 6
TIMEOUT: Final = 30


class Reader:
    """Where to read, and as whom."""

    def __init__(self, address: str, queue: str, count: int, user: str, password: str) -> None:
        self.address = address
        self.queue = queue
        self.count = count
        self.user = user
        self.password = password


def check(body: bytes) -> None:
    if len(body) != BODY_BYTES:
        raise RuntimeError(f"a message of {len(body)} bytes")


def read_all(manager: openmsmq.QueueManager, reader: Reader) -> float:
    """Iterate over the queue, with what the client reads ahead."""
    with manager.open_queue(reader.queue, access="receive") as queue:
        messages = iter(queue.messages(timeout=TIMEOUT))
        # The first message is there once the client has connected and opened the queue.
        check(next(messages).body_bytes)
        start = time.perf_counter()
        for number, message in enumerate(messages, 2):
            check(message.body_bytes)
            if number == reader.count:
                break
        messages.close()
        manager.flush()
        return time.perf_counter() - start


def read_local(reader: Reader) -> float:
    with openmsmq.connect(Path(reader.address)) as manager:
        return read_all(manager, reader)


def read_many(reader: Reader) -> float:
    with openmsmq.connect(
        f"msmq://{reader.address}", user=reader.user or None, password=reader.password or None
    ) as manager:
        return read_all(manager, reader)


def read_one_by_one(reader: Reader) -> float:
    with (
        openmsmq.connect(
            f"msmq://{reader.address}", user=reader.user or None, password=reader.password or None
        ) as manager,
        manager.open_queue(reader.queue, access="receive") as queue,
    ):
        check(queue.receive(timeout=TIMEOUT).body_bytes)
        start = time.perf_counter()
        for _ in range(reader.count - 1):
            check(queue.receive(timeout=TIMEOUT).body_bytes)
        # The client acknowledges a message while it asks for the next one.
        manager.flush()
        return time.perf_counter() - start


def read_by_impacket(reader: Reader) -> float:
    """impacket connects, authenticates and protects; the stubs are ours, which is kind to it."""
    from impacket.dcerpc.v5 import rpcrt, transport

    host, _, port = reader.address.rpartition(":")
    channel = transport.DCERPCTransportFactory(f"ncacn_ip_tcp:{host}[{port}]")
    channel.set_credentials(reader.user, reader.password)
    client = channel.get_dce_rpc()
    client.set_auth_level(PRIVACY)
    client.set_auth_type(rpcrt.RPC_C_AUTHN_WINNT)
    client.connect()
    client.bind(SyntaxId.of_interface(REMOTE_READ).serialize())

    # Any: requests and responses of several calls.
    def do(call: Call, request: Any) -> Any:
        client.call(call.opnum, call.request.encode(request, NDR))
        return call.response.decode(client.recv(), NDR)[0]

    direct = rf"DIRECT=TCP:{host}\{reader.queue.removeprefix('.' + chr(92))}"
    name = QueueFormat.from_format_name(parse_format_name(direct))
    request = calls.OpenQueueRequest(name, RECEIVE, 0, UUID(int=5), 1, 6, 1, 7600, 1)
    handle = do(calls.R_OPEN_QUEUE, request).pph_context

    def receive(number: int) -> None:
        timeout = TIMEOUT * 1000
        answer = do(
            calls.R_START_RECEIVE,
            calls.StartReceiveRequest(handle, 0, 0, 0, timeout, number, UNLIMITED, UNLIMITED),
        )
        packet = join_sections(answer.pp_packet_sections)
        check(bytes(RemoteReadMessage.parse(packet).user_message.body))
        if do(calls.R_END_RECEIVE, calls.EndReceiveRequest(handle, RR_ACK, number)).result:
            raise RuntimeError("a receive could not be ended")

    receive(1)
    start = time.perf_counter()
    for number in range(2, reader.count + 1):
        receive(number)
    elapsed = time.perf_counter() - start
    client.disconnect()
    return elapsed


KINDS: Final[dict[str, Callable[[Reader], float]]] = {
    "local": read_local,
    "many": read_many,
    "one": read_one_by_one,
    "impacket": read_by_impacket,
}


def main(arguments: Sequence[str]) -> None:
    kind, address, queue, count, *credentials = arguments
    user, password = credentials or ("", "")
    print(KINDS[kind](Reader(address, queue, int(count), user, password)))


if __name__ == "__main__":
    main(sys.argv[1:])
