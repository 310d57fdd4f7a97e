"""openmsmq: an open, wire-compatible implementation of Microsoft Message Queuing."""

__version__ = "0.1.0"

__all__ = ["__version__"]
