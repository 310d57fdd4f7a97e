"""Ranges, leases and staged batches over the local protocol."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from openmsmq.client.backend import Block, Handle
from openmsmq.client.browsed_message import Page
from openmsmq.client.operations import Operation, Wait
from openmsmq.client.properties import Info
from openmsmq.protocol.local import messages as local

from .caller import Caller
from .requests import block, checked, page


class LocalRanges:
    """`client.backend.RangeRequests` over the local protocol."""

    def __init__(self, backend: Caller) -> None:
        self._backend: Final = backend

    def info(self, handle: Handle) -> Operation[Info]:
        return self._backend.call(local.RangeInfo, handle.number)

    def plan(
        self,
        handle: Handle,
        after: int,
        upto: int | None,
        max_rows: int | None,
        max_bytes: int | None,
    ) -> Operation[Info]:
        return self._backend.call(local.PlanRange, handle.number, after, upto, max_rows, max_bytes)

    def split(self, handle: Handle, after: int, upto: int, parts: int) -> Operation[list[int]]:
        return self._backend.call(local.SplitRange, handle.number, after, upto, parts)

    def peek(
        self,
        handle: Handle,
        after: int,
        upto: int,
        rows: int,
        size: int,
        lookup_ids: Sequence[int],  # noqa: ARG002 - the range says enough
        head_bytes: int | None,
    ) -> int:
        channel = self._backend.channel
        channel.check()
        fields = (handle.number, after, upto, rows, size, head_bytes)
        request = checked(local.PeekRange(channel.next_id(), *fields))
        channel.post(request)
        return request.id

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
        channel = self._backend.channel
        channel.check()
        fields = (handle.number, lookup_id, backwards, count, head_bytes, hidden)
        request = checked(local.Browse(channel.next_id(), *fields))
        channel.post(request)
        machine = UUID(self._backend.identity.guid).bytes_le
        return page((yield Wait(request.id)), machine)

    def find(self, handle: Handle, identifier: bytes) -> Operation[int | None]:
        correlation, hidden = False, True
        return self._backend.call(local.FindMessage, handle.number, identifier, correlation, hidden)

    def next_block(self, request: int) -> Operation[Block | None]:
        answer = block((yield Wait(request)))
        return None if answer.last else answer

    def drop(self, request: int) -> None:
        self._backend.channel.ignore(request)

    def acknowledge(self, handle: Handle, base: int, upto: int) -> Operation[Info]:
        return self._backend.call(local.AcknowledgeRange, handle.number, base, upto)

    def lease(
        self, handle: Handle, consumer: str, token: int, max_rows: int, max_bytes: int
    ) -> Operation[Info]:
        return self._backend.call(local.Lease, handle.number, consumer, token, max_rows, max_bytes)

    def release(self, handle: Handle, consumer: str, token: int) -> Operation[Info]:
        return self._backend.call(local.Release, handle.number, consumer, token)

    def pin(self, handle: Handle, base: int, upto: int, seconds: float) -> Operation[None]:
        return self._backend.call(local.Pin, handle.number, base, upto, seconds)

    def stage(
        self,
        producer: str,
        batch: int,
        partition: int,
        attempt: int,
        destination: str,
        packets: list[bytes],
    ) -> Operation[None]:
        channel = self._backend.channel
        fields = (producer, batch, partition, attempt, destination, packets)
        channel.post_in_background(
            local.Stage(channel.next_id(), *fields), size=sum(map(len, packets))
        )
        yield from channel.make_room()
        channel.check()

    def commit(
        self,
        producer: str,
        batch: int,
        stages: list[tuple[int, int]],
        source: Handle | None,
        received: list[int],
    ) -> Operation[Info]:
        handle = 0 if source is None else source.number
        return self._backend.call(local.CommitBatch, producer, batch, stages, handle, received)

    def check_batch(
        self, destination: str, packets: list[bytes], queue_bytes: int, manager_bytes: int
    ) -> Operation[Info]:
        return self._backend.call(
            local.CheckBatch, destination, packets, queue_bytes, manager_bytes
        )

    def last_batch(self, producer: str) -> Operation[Info]:
        return self._backend.call(local.LastBatch, producer)

    def abort(
        self, producer: str, batch: int, stages: list[tuple[int, int]] | None
    ) -> Operation[None]:
        return self._backend.call(local.AbortBatch, producer, batch, stages)
