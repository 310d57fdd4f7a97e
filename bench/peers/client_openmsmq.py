"""openmsmq with its own Python client."""

from pathlib import Path
from typing import Literal

import openmsmq

from .board import BODY, IN_FLIGHT, Consumer, Producer, now, persist
from .worker import Task

TOGETHER = 100
DELIVERY = {"express": "express", "durable": "recoverable", "transactional": "recoverable"}


def open_to(
    task: Task, access: Literal["send", "receive"]
) -> tuple[openmsmq.QueueManager, openmsmq.Queue]:
    """The queue of a task, made by whoever comes first unless it is elsewhere."""
    manager = persist(lambda: openmsmq.connect(Path(task.address)))
    if task.queue.startswith("DIRECT="):
        return manager, manager.open_queue(task.queue, access=access)
    path = rf".\private$\{task.queue}"
    try:
        manager.create_queue(path, transactional=task.mode == "transactional")
    except openmsmq.QueueError as exc:
        if exc.name != "MQ_ERROR_QUEUE_EXISTS":
            raise
    return manager, manager.open_queue(path, access=access)


def produce(task: Task, producer: Producer) -> None:
    manager, queue = open_to(task, "send")
    delivery = DELIVERY[task.mode]
    durable = task.mode == "durable"
    together = IN_FLIGHT if durable else TOGETHER
    producer.start()
    while (room := producer.room(together)) >= 0:
        if task.mode == "transactional":
            with manager.transaction() as transaction:
                for _ in range(room):
                    queue.send(openmsmq.Message(BODY), transaction=transaction)
        elif durable:
            # Returns when all of them are accepted, so no more than these are unconfirmed.
            queue.send_many([openmsmq.Message(BODY, delivery=delivery) for _ in range(room)])
        else:
            for _ in range(room):
                queue.send(openmsmq.Message(BODY, delivery=delivery))
        producer.sent += room
    manager.flush()
    producer.finish()


def consume(task: Task, consumer: Consumer) -> None:
    consumer.start(wait=task.wait)
    _, queue = open_to(task, "receive")
    for message in queue:
        consumer.hit(message.body_bytes)


def latency(task: Task) -> list[float]:
    _, queue = open_to(task, "send")
    taken: list[float] = []
    end = now() + task.seconds
    while now() < end:
        message = openmsmq.Message(BODY, delivery="recoverable")
        start = now()
        queue.send(message)
        taken.append(now() - start)
    return taken


def transact(task: Task) -> tuple[int, float]:
    manager, queue = open_to(task, "send")
    sent, start = 0, now()
    while now() < start + task.seconds:
        with manager.transaction() as transaction:
            for _ in range(task.batch):
                queue.send(openmsmq.Message(BODY), transaction=transaction)
        sent += task.batch
    return sent, now() - start
