"""Delayed messages, and poison messages that a queue holds."""

import msgspec

from openmsmq.admin.front_desk import Caller

from .messages import number
from .queues import Counted, full_name


class DelayedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A message that appears later; it has another lookup id then."""

    queue: str
    lookup_id: str
    id: str
    label: str
    deliver_at: str
    body_size: int
    priority: int
    delivery: str
    transactional: bool


class DelayedList(msgspec.Struct, frozen=True):
    """Messages that appear later, the next one first; `after` continues it."""

    delayed: list[DelayedRecord]
    after: str | None = None


class ChosenMessages(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Messages by their lookup ids; without any, all of them."""

    lookup_ids: list[str] | None = None

    @property
    def numbers(self) -> list[int] | None:
        """The lookup ids.

        Raises:
            Problem: 400, one is not a number.
        """
        return None if self.lookup_ids is None else [number(text) for text in self.lookup_ids]


async def list_delayed(caller: Caller, queue: str) -> DelayedList:
    """Messages for a queue of this computer that appear later."""
    caller.need_queue(queue)
    return await _listed(caller, full_name(queue))


async def deliver_delayed(caller: Caller, queue: str, body: ChosenMessages) -> Counted:
    """Let delayed messages appear now."""
    caller.need_queue(queue)
    return Counted(await (await caller.manager()).deliver_delayed(full_name(queue), body.numbers))


async def cancel_delayed(caller: Caller, queue: str, body: ChosenMessages) -> Counted:
    """Never deliver delayed messages."""
    caller.need_queue(queue)
    return Counted(await (await caller.manager()).cancel_delayed(full_name(queue), body.numbers))


async def release_held(caller: Caller, queue: str, body: ChosenMessages) -> Counted:
    """Let readers have poison messages again that a queue holds."""
    caller.need_queue(queue)
    return Counted(await (await caller.manager()).release_held(full_name(queue), body.numbers))


async def list_delayed_elsewhere(caller: Caller, destination: str) -> DelayedList:
    """Messages for a queue of another machine that leave later."""
    return await _listed(caller, destination)


async def deliver_delayed_elsewhere(
    caller: Caller, destination: str, body: ChosenMessages
) -> Counted:
    """Let delayed messages for another machine leave now."""
    return Counted(await (await caller.manager()).deliver_delayed(destination, body.numbers))


async def cancel_delayed_elsewhere(
    caller: Caller, destination: str, body: ChosenMessages
) -> Counted:
    """Never send delayed messages for another machine."""
    return Counted(await (await caller.manager()).cancel_delayed(destination, body.numbers))


async def _listed(caller: Caller, name: str) -> DelayedList:
    infos = await (await caller.manager()).delayed(name)
    records = [
        msgspec.convert(
            {key: str(info[key]) if key == "lookup_id" else info[key] for key in _FIELDS},
            DelayedRecord,
        )
        for info in infos
    ]
    return DelayedList(sorted(records, key=lambda record: record.deliver_at))


_FIELDS = DelayedRecord.__struct_fields__
