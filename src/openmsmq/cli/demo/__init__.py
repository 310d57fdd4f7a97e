"""`openmsmq demo`: shows what works, from nothing."""

from .command import register

__all__ = ["register"]
