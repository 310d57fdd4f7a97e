# ruff: noqa: F401, F403 - one namespace: `messages as local` has every request and every reply.
"""Requests and replies of the local protocol, as typed msgpack arrays.

Requests carry an id and may be sent one after the other without waiting; each is answered by one
reply with the same id (a range that is streamed by several). Replies may come in another order.

A new request is a class in the module of its subject and a member of the union at its end.
"""

from typing import Final

import msgspec

from .administration import *
from .administration import AdministrationRequest
from .queues import *
from .queues import QueueRequest
from .ranges import *
from .ranges import RangeRequest
from .replies import *
from .replies import AnyReply, Refused, Welcome, last_block, pack_block
from .request import *
from .traffic import *
from .traffic import TrafficRequest

AnyRequest = QueueRequest | TrafficRequest | RangeRequest | AdministrationRequest

encode: Final = msgspec.msgpack.Encoder().encode
decode_request: Final = msgspec.msgpack.Decoder(AnyRequest).decode
decode_reply: Final = msgspec.msgpack.Decoder(AnyReply).decode
