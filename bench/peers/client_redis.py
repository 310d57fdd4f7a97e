"""Redis with redis-py: a list as the express queue, a stream with a consumer group as the durable.

A pipeline is how redis-py has several commands in flight.
"""

import contextlib

import redis  # type: ignore[import-not-found] # installed in the peers' environment only

from .board import ACKNOWLEDGE_EVERY, BODY, IN_FLIGHT, Consumer, Producer, now, persist
from .worker import Task

GROUP, MEMBER, FIELD = "group", "member", "b"
TOGETHER = 100
WAIT_SECONDS = 0.2


def connect(task: Task) -> redis.Redis:
    host, _, port = task.address.rpartition(":")

    def attempt() -> redis.Redis:
        client = redis.Redis(host, int(port), socket_connect_timeout=5)
        client.ping()
        return client

    return persist(attempt)


def produce(task: Task, producer: Producer) -> None:
    client = connect(task)
    express = task.mode == "express"
    producer.start()
    while (room := producer.room(TOGETHER if express else IN_FLIGHT)) >= 0:
        pipeline = client.pipeline(transaction=False)
        for _ in range(room):
            if express:
                pipeline.rpush(task.queue, BODY)
            else:
                pipeline.xadd(task.queue, {FIELD: BODY})
        pipeline.execute()
        producer.sent += room
    producer.finish()


def consume(task: Task, consumer: Consumer) -> None:
    consumer.start(wait=task.wait)
    client = connect(task)
    if task.mode == "express":
        while True:
            bodies = client.lpop(task.queue, TOGETHER)
            if not bodies:
                found = client.blpop(task.queue, WAIT_SECONDS)
                bodies = [found[1]] if found else []
            for body in bodies:
                consumer.hit(body)
    with contextlib.suppress(redis.ResponseError):
        client.xgroup_create(task.queue, GROUP, id="0", mkstream=True)
    field = FIELD.encode()
    while True:
        found = client.xreadgroup(
            GROUP,
            MEMBER,
            {task.queue: ">"},
            count=ACKNOWLEDGE_EVERY,
            block=int(WAIT_SECONDS * 1000),
        )
        for _, entries in found or []:
            for _, fields in entries:
                consumer.hit(fields[field])
            ids = [entry[0] for entry in entries]
            pipeline = client.pipeline(transaction=False)
            pipeline.xack(task.queue, GROUP, *ids).xdel(task.queue, *ids).execute()


def latency(task: Task) -> list[float]:
    client = connect(task)
    taken: list[float] = []
    end = now() + task.seconds
    while now() < end:
        start = now()
        client.xadd(task.queue, {FIELD: BODY})
        taken.append(now() - start)
    return taken


def transact(task: Task) -> tuple[int, float]:
    """MULTI ... EXEC."""
    client = connect(task)
    sent, start = 0, now()
    while now() < start + task.seconds:
        pipeline = client.pipeline(transaction=True)
        for _ in range(task.batch):
            pipeline.xadd(task.queue, {FIELD: BODY})
        pipeline.execute()
        sent += task.batch
    return sent, now() - start
