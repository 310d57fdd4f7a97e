"""Waiting of threads that share a channel: one of them reads for all."""

import threading
import time
from abc import ABC, abstractmethod
from math import ceil
from typing import Final, Generic, TypeVar

from openmsmq.client.address import interrupted
from openmsmq.client.backend import Channel
from openmsmq.client.errors import ConnectionLost
from openmsmq.client.operations import Wait

C = TypeVar("C", bound=Channel)


class Turns(ABC, Generic[C]):
    """What transports of blocking clients have in common; `lock` guards the channel."""

    def __init__(self, channel: C) -> None:
        self.channel: Final = channel
        self.lock: Final = threading.RLock()
        self._arrived: Final = threading.Condition(self.lock)
        self._reading = False

    @abstractmethod
    def flush(self) -> None:
        """Write everything that was posted."""

    @abstractmethod
    def _poll_for(self, seconds: float | None) -> list[tuple[int, int]]:
        """Wait for bytes without taking any; None waits for ever."""

    @abstractmethod
    def _read(self, came: list[tuple[int, int]]) -> bool:
        """Take the bytes that came; say whether there were any."""

    @abstractmethod
    def _hang_up(self) -> None:
        """Let the other side know that the connection is over."""

    def wait(self, wait: Wait) -> None:
        """Wait until the channel has what an operation waits for, or its time is over.

        Raises:
            ConnectionLost: it will never come.
        """
        self.flush()
        channel = self.channel
        deadline = None if wait.seconds is None else time.monotonic() + wait.seconds
        # Whether this call reads for all, and whether it does nothing but wait.
        reads = rests = False
        try:
            while True:
                with self.lock:
                    if channel.is_over(wait):
                        return
                    if channel.fault is not None:
                        raise ConnectionLost(str(channel.fault))
                    left = None if deadline is None else deadline - time.monotonic()
                    if left is not None and left <= 0:
                        return
                    rests = True
                    if self._reading:
                        self._arrived.wait(left)
                        rests = False
                        continue
                    reads = self._reading = True
                came = self._poll_for(left)
                rests = False
                self._read(came)
                self._stop_reading()
                reads = False
                # What came may have asked for an answer.
                self.flush()
        except BaseException as exc:
            if not (rests or isinstance(exc, ConnectionLost)):
                self.lose_track()
            if reads:
                self._stop_reading()
            raise

    def _stop_reading(self) -> None:
        with self.lock:
            self._reading = False
            self._arrived.notify_all()

    def lose_track(self) -> None:
        """A call was cut off while it read or wrote, such as by Ctrl-C: give the connection up.

        What is locked goes back at once.
        """
        with self.lock:
            self.channel.lose(interrupted(self.channel.description))
            self._arrived.notify_all()
        self._hang_up()


def milliseconds(seconds: float | None) -> int | None:
    """What a poll takes."""
    return None if seconds is None else ceil(seconds * 1000)
