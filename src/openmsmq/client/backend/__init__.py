"""The seam between what a client does and how it gets to the queues.

`client/logic` (queues, cursors, iteration, transactions) knows queues by a `Backend` only, and the
drivers (`client/blocking`, `client/asynchronous`) move the bytes of its `Channel`. `client/local`
is the backend of the local protocol, for a queue manager of ours. A backend that reads queues of
any MSMQ server over RPC implements the same interface; what such a server cannot do raises
`not_available`.

How to write a backend
    1. A `Channel` is one connection as bytes in and bytes out, without a socket. Requests are
       numbered from 1. A driver calls `receive_data` (or `space` and `filled`) with what came,
       sends `data_to_send`, and calls `lose` when the connection is gone. Everything that answers
       a request is kept until `take` is called with its number.
    2. Methods of `Backend` that return an `Operation` are generators. They post requests on the
       channel and `yield Wait(number)`; the driver sends what was posted, waits, and feeds in what
       `Channel.take(number)` gives. The others only post: nothing waits for them, and what is
       refused of them is raised by the next `check` or `flush`.
    3. `connect` makes the backend in `client/connecting.py`, by the kind of the address. For every
       connection the driver asks for a `new_channel` and runs `greet`.

All calls come from one thread at a time; a blocking driver holds a lock while an operation runs
between two waits. A backend never blocks, sleeps or reads a clock.
"""

from .channel import ChainBroken, Channel, SendChannel, not_answered
from .handles import Handle, SendDetails, SendHandle
from .interface import SINGLE, Backend, Identity, not_available
from .management import InfoStream, Management
from .ranges import Block, RangeRequests
from .reads import GRACE_SECONDS, READ_BYTES, HoldMany, LookUp, MoveStep, PurgeStep, Read

__all__ = [
    "GRACE_SECONDS",
    "READ_BYTES",
    "SINGLE",
    "Backend",
    "Block",
    "ChainBroken",
    "Channel",
    "Handle",
    "HoldMany",
    "Identity",
    "InfoStream",
    "LookUp",
    "Management",
    "MoveStep",
    "PurgeStep",
    "RangeRequests",
    "Read",
    "SendChannel",
    "SendDetails",
    "SendHandle",
    "not_answered",
    "not_available",
]
