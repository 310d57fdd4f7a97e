"""The asynchronous client: what `openmsmq` offers, with await.

async with openmsmq.aio.connect() as qm:
    orders = await qm.create_queue(r".\\private$\\orders")
    await orders.send(openmsmq.Message(body=b"..."))
    async for message in orders:
        ...
"""

from .client.asynchronous.message_stream import MessageStream
from .client.asynchronous.queue import Queue
from .client.asynchronous.queue_manager import QueueManager, connect
from .client.asynchronous.ranges import Producer, Ranges
from .client.asynchronous.transaction import Transaction

__all__ = [
    "MessageStream",
    "Producer",
    "Queue",
    "QueueManager",
    "Ranges",
    "Transaction",
    "connect",
]
