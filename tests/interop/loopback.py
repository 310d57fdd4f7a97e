"""Loopback addresses for queue managers that run side by side: each has one of its own."""

import os
from itertools import count

# Workers of one test run, and other runs on the machine, do not meet.
_NETWORK = f"127.{os.getpid() >> 8 & 0x7F | 0x40}.{os.getpid() & 0xFF}"
_numbers = count(1)


def new_address() -> str:
    """An address that no other queue manager of this process has."""
    return f"{_NETWORK}.{next(_numbers) % 250 + 2}"
