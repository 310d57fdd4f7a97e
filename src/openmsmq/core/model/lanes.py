"""Eight lanes of visible messages, one per priority, each in ascending lookup id.

A lane is a list of short sorted blocks. Appending, taking from the front, putting a message back
in its place and starting at any id (even of a removed message) touch one block each, so no cost
grows with the number of messages.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final

from openmsmq.wire.lookup_id import SEQUENCE_BITS, SEQUENCE_MASK

from .message import Message

BLOCK: Final = 512
LANES: Final = 8


class Lane:
    """Messages of one priority, sorted by lookup id."""

    __slots__ = ("block", "blocks", "cold", "count", "ids", "lasts")

    def __init__(self, block: int) -> None:
        # The usual size of a block in messages; it is split at twice this size.
        self.block = block
        self.count = 0
        # ids[i] are the lookup ids of blocks[i], lasts[i] the largest of them.
        self.ids: list[list[int]] = []
        self.blocks: list[list[Message]] = []
        self.lasts: list[int] = []
        # The last ids of blocks without a packet in memory; may hold ids of removed blocks.
        self.cold: set[int] = set()

    def append(self, message: Message) -> None:
        """Add a message whose lookup id is larger than all others."""
        lookup_id = message.lookup_id
        if self.count and len(self.ids[-1]) < self.block:
            self.ids[-1].append(lookup_id)
            self.blocks[-1].append(message)
            self.lasts[-1] = lookup_id
        else:
            self.ids.append([lookup_id])
            self.blocks.append([message])
            self.lasts.append(lookup_id)
        self.count += 1

    def extend(self, messages: list[Message], ids: list[int]) -> None:
        """Add messages in ascending order whose lookup ids are larger than all others."""
        self.count += len(ids)
        start = 0
        if self.blocks and len(self.ids[-1]) < self.block:
            start = self.block - len(self.ids[-1])
            self.ids[-1] += ids[:start]
            self.blocks[-1] += messages[:start]
            self.lasts[-1] = self.ids[-1][-1]
        block = self.block
        for at in range(start, len(ids), block):
            part = ids[at : at + block]
            self.ids.append(part)
            self.blocks.append(messages[at : at + block])
            self.lasts.append(part[-1])

    def insert(self, message: Message) -> None:
        """Put a message in its place."""
        lookup_id = message.lookup_id
        if not self.count or lookup_id > self.lasts[-1]:
            self.append(message)
            self.cold.discard(lookup_id)
            return
        at = bisect_left(self.lasts, lookup_id)
        ids = self.ids[at]
        place = bisect_left(ids, lookup_id)
        ids.insert(place, lookup_id)
        self.blocks[at].insert(place, message)
        self.count += 1
        if self.cold:
            # Any of these may become the last id of the block that the message is in.
            self.cold.difference_update(ids[place:])
        if len(ids) > 2 * self.block:
            self._split(at)

    def _split(self, at: int) -> None:
        half = self.block
        self.ids.insert(at + 1, self.ids[at][half:])
        self.blocks.insert(at + 1, self.blocks[at][half:])
        del self.ids[at][half:]
        del self.blocks[at][half:]
        self.lasts.insert(at, self.ids[at][-1])

    def remove(self, lookup_id: int) -> None:
        """Take out the message with this id, which must be there."""
        at = bisect_left(self.lasts, lookup_id)
        ids = self.ids[at]
        place = bisect_left(ids, lookup_id)
        del ids[place]
        del self.blocks[at][place]
        self.count -= 1
        if not ids:
            del self.ids[at]
            del self.blocks[at]
            del self.lasts[at]
        elif place == len(ids):
            self.lasts[at] = ids[-1]

    def take(self, count: int, size: int) -> list[Message]:
        """Take out up to `count` messages of up to `size` bytes together, at least one."""
        messages: list[Message] = []
        while count > 0 and self.count:
            block = self.blocks[0]
            wanted = min(len(block), count)
            fitting = 0
            for message in block if wanted == len(block) else block[:wanted]:
                size -= message.size
                if size < 0 and (fitting or messages):
                    break
                fitting += 1
            if fitting == len(block):
                messages += block
                del self.ids[0]
                del self.blocks[0]
                del self.lasts[0]
            else:
                messages += block[:fitting]
                del self.ids[0][:fitting]
                del block[:fitting]
            self.count -= fitting
            count -= fitting
            if fitting < wanted or size <= 0:
                break
        return messages

    def get(self, lookup_id: int) -> Message | None:
        """The message with this id."""
        at = bisect_left(self.lasts, lookup_id)
        if at == len(self.lasts):
            return None
        ids = self.ids[at]
        place = bisect_left(ids, lookup_id)
        return self.blocks[at][place] if ids[place] == lookup_id else None

    def after(self, lookup_id: int) -> Message | None:
        """The first message with a larger id."""
        at = bisect_right(self.lasts, lookup_id)
        if at == len(self.lasts):
            return None
        return self.blocks[at][bisect_right(self.ids[at], lookup_id)]

    def before(self, lookup_id: int) -> Message | None:
        """The last message with a smaller id."""
        at = bisect_left(self.lasts, lookup_id)
        if at < len(self.lasts):
            place = bisect_left(self.ids[at], lookup_id)
            if place:
                return self.blocks[at][place - 1]
        return self.blocks[at - 1][-1] if at else None

    def between(self, after: int, upto: int) -> Iterator[Message]:
        """Messages with `after` < id <= `upto`, in order; do not change the lane meanwhile."""
        at = bisect_right(self.lasts, after)
        while at < len(self.lasts):
            ids = self.ids[at]
            start = bisect_right(ids, after)
            if self.lasts[at] > upto:
                yield from self.blocks[at][start : bisect_right(ids, upto)]
                return
            yield from self.blocks[at][start:] if start else self.blocks[at]
            at += 1


class Lanes:
    """The visible messages of one queue in queue order: priority 7 first, then by arrival."""

    __slots__ = ("_block", "count", "lanes")

    def __init__(self, block: int = BLOCK) -> None:
        self._block = block
        self.count = 0
        # Indexed by the top byte of the lookup id, which is 7 - priority.
        self.lanes: list[Lane | None] = [None] * LANES

    def _lane(self, lookup_id: int) -> Lane:
        index = lookup_id >> SEQUENCE_BITS
        lane = self.lanes[index]
        if lane is None:
            lane = self.lanes[index] = Lane(self._block)
        return lane

    def extend(self, messages: list[Message], ids: list[int]) -> None:
        """Add messages that have just been given their lookup ids, in the order of arrival."""
        self.count += len(ids)
        first = ids[0] >> SEQUENCE_BITS
        # Messages that arrive together mostly have the same priority.
        if len(ids) == 1:
            self._lane(ids[0]).append(messages[0])
        elif max(ids) >> SEQUENCE_BITS == min(ids) >> SEQUENCE_BITS == first:
            self._lane(ids[0]).extend(messages, ids)
        else:
            for message in messages:
                self._lane(message.lookup_id).append(message)

    def insert_many(self, messages: list[Message]) -> None:
        """Put messages, at least one, in their places: mostly in order after all others."""
        ids = [message.lookup_id for message in messages]
        lane = self._lane(ids[0])
        if (
            (not lane.count or ids[0] > lane.lasts[-1])
            and ids[0] >> SEQUENCE_BITS == ids[-1] >> SEQUENCE_BITS
            and ids == sorted(ids)
        ):
            lane.extend(messages, ids)
            self.count += len(ids)
        else:
            for message in messages:
                self.insert(message)

    def insert(self, message: Message) -> None:
        """Put a message in its place among the others."""
        self._lane(message.lookup_id).insert(message)
        self.count += 1

    def remove(self, message: Message) -> None:
        """Take out a message that is here."""
        self._lane(message.lookup_id).remove(message.lookup_id)
        self.count -= 1

    def take(self, count: int, size: int) -> list[Message]:
        """Take out the first messages: up to `count`, up to `size` bytes, at least one."""
        messages: list[Message] = []
        for lane in self.lanes:
            if lane is None or not lane.count:
                continue
            if messages:
                first = lane.blocks[0][0]
                if size < first.size:
                    break
            part = lane.take(count, size)
            messages = messages + part if messages else part
            count -= len(part)
            if count <= 0 or lane.count:
                break
            for message in part:
                size -= message.size
        self.count -= len(messages)
        return messages

    def first(self) -> Message | None:
        """The first message in queue order."""
        for lane in self.lanes:
            if lane is not None and lane.count:
                return lane.blocks[0][0]
        return None

    def last(self) -> Message | None:
        """The last message in queue order."""
        for lane in reversed(self.lanes):
            if lane is not None and lane.count:
                return lane.blocks[-1][-1]
        return None

    def get(self, lookup_id: int) -> Message | None:
        """The message with this id, if it is here."""
        index = lookup_id >> SEQUENCE_BITS
        lane = self.lanes[index] if 0 <= index < LANES else None
        return lane.get(lookup_id) if lane is not None else None

    def after(self, lookup_id: int) -> Message | None:
        """The first message after this id, whose own message may be removed."""
        for index in range(max(lookup_id >> SEQUENCE_BITS, 0), LANES):
            lane = self.lanes[index]
            if lane is not None and lane.count:
                message = lane.after(lookup_id)
                if message is not None:
                    return message
        return None

    def before(self, lookup_id: int) -> Message | None:
        """The last message before this id, whose own message may be removed."""
        for index in range(min(lookup_id >> SEQUENCE_BITS, LANES - 1), -1, -1):
            lane = self.lanes[index]
            if lane is not None and lane.count:
                message = lane.before(lookup_id)
                if message is not None:
                    return message
        return None

    def newer(self, sequence: int) -> Message | None:
        """The first message in queue order that arrived after this sequence number."""
        for index, lane in enumerate(self.lanes):
            if lane is not None and lane.count:
                message = lane.after((index << SEQUENCE_BITS) | sequence)
                if message is not None:
                    return message
        return None

    def __iter__(self) -> Iterator[Message]:
        """Every message in queue order; the lanes must not change during iteration."""
        for lane in self.lanes:
            if lane is not None:
                for block in lane.blocks:
                    yield from block

    def lane_ends(self) -> list[tuple[Message, Message]]:
        """The first and the last message of each lane that has any."""
        return [
            (lane.blocks[0][0], lane.blocks[-1][-1])
            for lane in self.lanes
            if lane is not None and lane.count
        ]

    def arrivals(self, after: int, upto: int) -> list[Iterator[Message]]:
        """One iterator for each lane over the messages with `after` < sequence <= `upto`."""
        # A larger number would be a place in the next lane.
        after, upto = min(after, SEQUENCE_MASK), min(upto, SEQUENCE_MASK)
        return [
            lane.between(index << SEQUENCE_BITS | after, index << SEQUENCE_BITS | upto)
            for index, lane in enumerate(self.lanes)
            if lane is not None and lane.count
        ]
