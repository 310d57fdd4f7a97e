"""`openmsmq demo`: demonstrates the main features."""

from .command import register

__all__ = ["register"]
