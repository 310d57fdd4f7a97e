"""`openmsmq directory`: sites, routing links and servers of the directory in a file."""

from .command import register

__all__ = ["register"]
