"""The audit: what became of each sent message."""

from .auditing import audit

__all__ = ["audit"]
