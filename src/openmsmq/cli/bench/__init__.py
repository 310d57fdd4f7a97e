"""`openmsmq bench`: the speed of a queue manager on this machine."""

from .command import register

__all__ = ["register"]
