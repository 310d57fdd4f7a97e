"""The Python API, for programs in any process."""

from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.errors import ConfigError, MsmqError

from .backend import Identity
from .blocking.message_stream import MessageStream
from .blocking.queue import Queue
from .blocking.queue_manager import QueueManager, connect
from .blocking.ranges import Producer, Ranges
from .blocking.transaction import Transaction
from .browsed_message import BrowsedMessage, Page
from .errors import ConnectionLost, ReceiveTimeout
from .logic.ranges import Leased, RangeInfo, RangePlan
from .message import Message
from .properties import QueueProperties
from .received_message import ReceivedMessage

__all__ = [
    "AccessDenied",
    "BrowsedMessage",
    "ConfigError",
    "ConnectionLost",
    "Identity",
    "Leased",
    "Message",
    "MessageStream",
    "MsmqError",
    "Page",
    "Producer",
    "Queue",
    "QueueError",
    "QueueManager",
    "QueueProperties",
    "RangeInfo",
    "RangePlan",
    "Ranges",
    "ReceiveTimeout",
    "ReceivedMessage",
    "Transaction",
    "connect",
]
