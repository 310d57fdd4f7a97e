"""The interface between the parts of the local backend."""

from collections.abc import Callable
from typing import Any, Protocol

from openmsmq.client.backend import Identity
from openmsmq.client.operations import Operation
from openmsmq.protocol.local import messages as local

from .channel import RequestChannel


class Caller(Protocol):
    """Sends requests over the current channel."""

    channel: RequestChannel

    @property
    def identity(self) -> Identity:
        """The identity of the queue manager."""

    def call(self, kind: Callable[..., local.Request], *fields: Any) -> Operation[Any]:
        """Send a request of this kind and return the value of its answer."""
