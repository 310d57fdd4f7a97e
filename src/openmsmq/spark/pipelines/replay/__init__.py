"""Send messages of an archive or a dead-letter queue again, never twice."""

from .replaying import replay

__all__ = ["replay"]
