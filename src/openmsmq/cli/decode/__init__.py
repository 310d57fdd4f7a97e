"""`openmsmq decode`: reads captures, bytes and hex text, prints dissected packets."""

from .command import register

__all__ = ["register"]
