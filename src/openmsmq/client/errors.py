"""Errors that only a client can meet."""

from openmsmq.wire.errors import MsmqError


class ConnectionLost(MsmqError):
    """There is no queue manager at the other end, or none any more."""


class ReceiveTimeout(MsmqError):
    """No message came in the time that the caller gave."""
