"""`openmsmq pipeline`: one module for each pipeline."""

from .command import register

__all__ = ["register"]
