"""Lists that the queue manager streams in parts."""

from collections.abc import Callable
from typing import Any

from openmsmq.client.operations import Operation, Wait
from openmsmq.client.properties import Info
from openmsmq.protocol.local import messages as local

from .caller import Caller
from .channel import RequestChannel, is_last
from .requests import checked, part


class PartStream:
    """The parts of one list; the first call of `next_part` requests it."""

    def __init__(self, backend: Caller, kind: Callable[..., local.Request], *fields: Any) -> None:
        self._backend = backend
        self._kind = kind
        self._fields = fields
        self._channel: RequestChannel | None = None
        self._request = 0
        self._ended = False

    def next_part(self) -> Operation[list[Info] | None]:
        """The next entries; None after the last.

        Raises:
            QueueError: the caller may not see them.
        """
        if self._channel is None:
            self._channel = channel = self._backend.channel
            channel.check()
            request = checked(self._kind(channel.next_id(), *self._fields))
            channel.post(request)
            self._request = request.id
        if self._ended:
            return None
        reply = yield Wait(self._request)
        self._ended = reply is None or is_last(reply)
        values = part(reply)
        return None if values.last else values.values

    def whole(self) -> Operation[list[Info]]:
        """The whole list.

        Raises:
            QueueError: the caller may not see it.
        """
        entries: list[Info] = []
        try:
            while (values := (yield from self.next_part())) is not None:
                entries += values
        finally:
            self.close()
        return entries

    def close(self) -> None:
        """Drop the remaining parts."""
        if self._channel is not None and not self._ended:
            self._ended = True
            self._channel.ignore(self._request)
