"""Ranges: what pipelines ask for."""

from collections.abc import Sequence
from typing import Protocol

from openmsmq.client.browsed_message import Page
from openmsmq.client.operations import Operation
from openmsmq.client.properties import Info

# One format of ranges for every backend: a blob of packets with columns.
from openmsmq.protocol.local.messages import Block

from .handles import Handle

__all__ = ["Block", "RangeRequests"]


class RangeRequests(Protocol):
    """What pipelines ask for: ranges by arrival sequence, leases, batches that are staged."""

    def info(self, handle: Handle) -> Operation[Info]:
        """First, stable and last sequence, and who holds locks."""

    def plan(
        self,
        handle: Handle,
        after: int,
        upto: int | None,
        max_rows: int | None,
        max_bytes: int | None,
    ) -> Operation[Info]:
        """The next range after `after`, below the stable mark and within the limits.

        A backend that reads messages by lookup id only tells `lookup_ids`, too.
        """

    def split(self, handle: Handle, after: int, upto: int, parts: int) -> Operation[list[int]]:
        """Ends of consecutive ranges of about equal bytes."""

    def peek(
        self,
        handle: Handle,
        after: int,
        upto: int,
        rows: int,
        size: int,
        lookup_ids: Sequence[int],
        head_bytes: int | None,
    ) -> int:
        """Ask for the blocks of a range, of so many rows and bytes; return the request.

        Args:
            lookup_ids: of the messages, if a plan told them.
            head_bytes: how much of each body is wanted; none: all.
        """

    def browse(
        self,
        handle: Handle,
        lookup_id: int | None,
        count: int,
        head_bytes: int | None,
        *,
        backwards: bool,
        hidden: bool,
    ) -> Operation[Page]:
        """Messages after a lookup id, or in front of it, as the queue manager has them."""

    def find(self, handle: Handle, identifier: bytes) -> Operation[int | None]:
        """The lookup id of the message with an identifier, even if readers do not see it."""

    def next_block(self, request: int) -> Operation[Block | None]:
        """The next block of a range; None after the last one."""

    def drop(self, request: int) -> None:
        """Drop the blocks that still come."""

    def acknowledge(self, handle: Handle, base: int, upto: int) -> Operation[Info]:
        """Receive a range for good, some messages at a time."""

    def lease(
        self, handle: Handle, consumer: str, token: int, max_rows: int, max_bytes: int
    ) -> Operation[Info]:
        """Move the next messages into the subqueue of a consumer."""

    def release(self, handle: Handle, consumer: str, token: int) -> Operation[Info]:
        """Move what a consumer has back, some messages at a time."""

    def pin(self, handle: Handle, base: int, upto: int, seconds: float) -> Operation[None]:
        """Keep a range from expiring."""

    def stage(
        self,
        producer: str,
        batch: int,
        partition: int,
        attempt: int,
        destination: str,
        packets: list[bytes],
    ) -> Operation[None]:
        """Keep packets for a batch; return when there is room for more."""

    def commit(
        self,
        producer: str,
        batch: int,
        stages: list[tuple[int, int]],
        source: Handle | None,
        received: list[int],
    ) -> Operation[Info]:
        """Publish a batch, and remove messages that are locked by `source` in the same step."""

    def check_batch(
        self, destination: str, packets: list[bytes], queue_bytes: int, manager_bytes: int
    ) -> Operation[Info]:
        """Say which packets a destination would refuse."""

    def last_batch(self, producer: str) -> Operation[Info]:
        """The batch that a producer published last."""

    def abort(
        self, producer: str, batch: int, stages: list[tuple[int, int]] | None
    ) -> Operation[None]:
        """Forget the named stages of a batch, or all."""
