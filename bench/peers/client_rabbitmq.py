"""RabbitMQ with pika: its asynchronous connection for many in flight, its blocking one for one."""

from collections.abc import Callable
from typing import Any

import pika  # type: ignore[import-not-found] # installed in the peers' environment only

from .board import (
    ACKNOWLEDGE_EVERY,
    BODY,
    IN_FLIGHT,
    PAUSE_SECONDS,
    Consumer,
    Producer,
    now,
    persist,
)
from .worker import Task

TOGETHER = 100
QUEUES: dict[str, dict[str, Any]] = {
    "express": {"durable": False},
    "classic": {"durable": True},
    "quorum": {"durable": True, "arguments": {"x-queue-type": "quorum"}},
}


def parameters(task: Task) -> pika.ConnectionParameters:
    host, _, port = task.address.rpartition(":")
    return pika.ConnectionParameters(host, int(port), heartbeat=0, socket_timeout=30)


def open_blocking(task: Task) -> Any:
    """A blocking channel with the queue declared."""

    def attempt() -> Any:
        channel = pika.BlockingConnection(parameters(task)).channel()
        channel.queue_declare(task.queue, **QUEUES[task.mode])
        return channel

    return persist(attempt)


def run(task: Task, begin: Callable[[Any, Any], None]) -> None:
    """Open an asynchronous channel with the queue declared; then it is up to `begin`."""

    def failed(_connection: Any, error: Exception) -> None:
        loop.stop()
        if not isinstance(error, pika.exceptions.ConnectionClosedByClient):
            raise error

    def opened(connection: Any) -> None:
        connection.channel(on_open_callback=declare)

    def declare(channel: Any) -> None:
        channel.queue_declare(
            task.queue, callback=lambda _: begin(channel, loop), **QUEUES[task.mode]
        )

    connection = pika.SelectConnection(
        parameters(task),
        on_open_callback=opened,
        on_open_error_callback=failed,
        on_close_callback=failed,
    )
    loop = connection.ioloop
    loop.start()


class Publisher:
    """Publishes as long as there is room; a confirm makes room again."""

    def __init__(self, task: Task, producer: Producer) -> None:
        self._task = task
        self._producer = producer
        self._confirms = task.mode != "express"
        self._properties = pika.BasicProperties(delivery_mode=2 if self._confirms else 1)
        self._confirmed = 0
        self._blocked = False
        self._over = False

    def begin(self, channel: Any, loop: Any) -> None:
        self._channel = channel
        self._loop = loop
        if self._confirms:
            channel.confirm_delivery(self._on_confirm, callback=lambda _: self._start())
        else:
            self._start()

    def _start(self) -> None:
        self._producer.start()
        self._pump()

    def _pump(self) -> None:
        wanted = TOGETHER
        producer = self._producer
        if self._confirms:
            wanted = min(wanted, IN_FLIGHT - (producer.sent - self._confirmed))
        self._blocked = wanted <= 0
        if self._blocked:
            return
        room = producer.room(wanted)
        if room < 0:
            self._over = True
            self._end_if_confirmed()
            return
        publish, queue, properties = self._channel.basic_publish, self._task.queue, self._properties
        for _ in range(room):
            publish("", queue, BODY, properties)
        producer.sent += room
        self._loop.call_later(0 if room else PAUSE_SECONDS, self._pump)

    def _on_confirm(self, frame: Any) -> None:
        method = frame.method
        refused = isinstance(method, pika.spec.Basic.Nack)
        if refused:
            raise RuntimeError("a message was refused")
        self._confirmed = method.delivery_tag if method.multiple else self._confirmed + 1
        if self._over:
            self._end_if_confirmed()
        elif self._blocked and self._producer.sent - self._confirmed <= IN_FLIGHT - TOGETHER:
            self._pump()

    def _end_if_confirmed(self) -> None:
        if not self._confirms or self._confirmed >= self._producer.sent:
            self._producer.finish()
            self._channel.connection.close()


def produce(task: Task, producer: Producer) -> None:
    persist(lambda: pika.BlockingConnection(parameters(task)).close())
    run(task, Publisher(task, producer).begin)


def consume(task: Task, consumer: Consumer) -> None:
    express = task.mode == "express"
    if task.wait:
        consumer.start(wait=True)
    persist(lambda: pika.BlockingConnection(parameters(task)).close())

    def on_message(channel: Any, method: Any, _properties: Any, body: bytes) -> None:
        consumer.hit(body)
        if not express and consumer.received % ACKNOWLEDGE_EVERY == 0:
            channel.basic_ack(method.delivery_tag, multiple=True)

    def begin(channel: Any, _loop: Any) -> None:
        if not express:
            channel.basic_qos(prefetch_count=IN_FLIGHT)
        channel.basic_consume(
            task.queue,
            on_message,
            auto_ack=express,
            callback=lambda _: consumer.start(wait=False),
        )

    run(task, begin)


def latency(task: Task) -> list[float]:
    channel = open_blocking(task)
    channel.confirm_delivery()
    persistent = pika.BasicProperties(delivery_mode=2)
    taken: list[float] = []
    end = now() + task.seconds
    while now() < end:
        start = now()
        channel.basic_publish("", task.queue, BODY, persistent)
        taken.append(now() - start)
    return taken


def transact(task: Task) -> tuple[int, float]:
    channel = open_blocking(task)
    channel.tx_select()
    persistent = pika.BasicProperties(delivery_mode=2)
    sent, start = 0, now()
    while now() < start + task.seconds:
        for _ in range(task.batch):
            channel.basic_publish("", task.queue, BODY, persistent)
        channel.tx_commit()
        sent += task.batch
    return sent, now() - start
