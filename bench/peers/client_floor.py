"""Client of the floor: blocking sockets, frames, nothing else."""

import socket
import struct
from typing import Final

from .board import ACKNOWLEDGE_EVERY, BODY, IN_FLIGHT, Consumer, Producer, now, persist
from .floor import Operation, frame, split
from .worker import Task

READ_SIZE: Final = 256 * 1024
TOGETHER: Final = 64
_COUNT: Final = struct.Struct("<I")
OPERATIONS: Final = {"express": Operation.EXPRESS, "durable": Operation.DURABLE}


class Client:
    """One connection."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""
        self.send = self._socket.sendall

    def frames(self) -> list[bytes]:
        """What is there; waits until there is something."""
        data = self._socket.recv(READ_SIZE)
        if not data:
            raise ConnectionError("the floor hung up")
        bodies, self._rest = split(self._rest + data if self._rest else data)
        return bodies

    def confirmed(self) -> int:
        return sum([_COUNT.unpack(body)[0] for body in self.frames()])


def produce(task: Task, producer: Producer) -> None:
    client = persist(lambda: Client(task.address))
    operation = OPERATIONS[task.mode]
    durable = operation is Operation.DURABLE
    acknowledged = 0
    producer.start()
    while (room := producer.room(TOGETHER)) >= 0:
        if durable:
            unconfirmed = producer.sent - acknowledged
            # Only then: with nothing unconfirmed there would be nothing to wait for.
            if unconfirmed >= IN_FLIGHT:
                acknowledged += client.confirmed()
                continue
            room = min(room, IN_FLIGHT - unconfirmed)
        # A real program has another body each time, so a frame is made for each.
        client.send(b"".join([frame(operation, BODY) for _ in range(room)]))
        producer.sent += room
    while durable and acknowledged < producer.sent:
        acknowledged += client.confirmed()
    producer.finish()


def consume(task: Task, consumer: Consumer) -> None:
    consumer.start(wait=task.wait)
    client = persist(lambda: Client(task.address))
    durable = task.mode == "durable"
    client.send(frame(Operation.SUBSCRIBE, b"acknowledge" if durable else b""))
    pending = 0
    while True:
        bodies = client.frames()
        for body in bodies:
            consumer.hit(body)
        pending += len(bodies)
        if durable and pending >= ACKNOWLEDGE_EVERY:
            client.send(frame(Operation.ACKNOWLEDGE, _COUNT.pack(pending)))
            pending = 0


def latency(task: Task) -> list[float]:
    client = persist(lambda: Client(task.address))
    taken: list[float] = []
    end = now() + task.seconds
    while now() < end:
        start = now()
        client.send(frame(Operation.DURABLE, BODY))
        client.confirmed()
        taken.append(now() - start)
    return taken
