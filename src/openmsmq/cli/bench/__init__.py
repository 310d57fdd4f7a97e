"""`openmsmq bench`: how fast a queue manager is on this machine."""

from .command import register

__all__ = ["register"]
