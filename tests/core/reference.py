"""The rules of queues in plain lists and dicts: slow, short and obviously right."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field


@dataclass
class ModelMessage:
    body: bytes
    priority: int
    sequence: int
    size: int
    recoverable: bool
    expires: float | None = None
    holder: str | None = None
    purged: bool = False

    @property
    def lookup_id(self) -> int:
        return (7 - self.priority) << 56 | self.sequence


@dataclass
class ModelTransaction:
    """Messages by body: sent (to which queue), taken (from which queue), moved (from, to)."""

    prepared: bool = False
    sent: list[tuple[str, ModelMessage]] = field(default_factory=list)
    taken: list[tuple[str, ModelMessage]] = field(default_factory=list)
    moved: list[tuple[str, str, ModelMessage]] = field(default_factory=list)


@dataclass
class Model:
    queues: dict[str, list[ModelMessage]] = field(default_factory=dict)
    transactions: dict[str, ModelTransaction] = field(default_factory=dict)
    utc: float = 0.0

    def order(self, name: str) -> list[ModelMessage]:
        return sorted(self.queues.get(name, []), key=lambda message: message.lookup_id)

    def visible(self, name: str) -> list[ModelMessage]:
        return [message for message in self.order(name) if message.holder is None]

    def put(self, name: str, message: ModelMessage) -> None:
        self.queues.setdefault(name, []).append(message)

    def take(self, name: str, message: ModelMessage) -> None:
        self.queues[name].remove(message)

    def give_back(self, name: str, message: ModelMessage) -> None:
        """A lock ends without a receive."""
        message.holder = None
        expired = message.expires is not None and message.expires <= self.utc
        if message.purged or expired:
            self.take(name, message)

    def purge(self, name: str) -> None:
        for message in list(self.queues.get(name, [])):
            if message.holder is None:
                self.take(name, message)
            else:
                message.purged = True

    def expire(self) -> None:
        for name in self.queues:
            for message in self.visible(name):
                if message.expires is not None and message.expires <= self.utc:
                    self.take(name, message)

    def commit(self, identifier: str) -> None:
        transaction = self.transactions.pop(identifier)
        for name, message in transaction.sent:
            if message.expires is None or message.expires > self.utc:
                self.put(name, message)
        for name, message in transaction.taken:
            self.take(name, message)

    def abort(self, identifier: str) -> None:
        transaction = self.transactions.pop(identifier)
        for name, message in transaction.taken:
            self.give_back(name, message)
        for source, _, message in transaction.moved:
            self.give_back(source, message)

    def after_crash(self) -> Model:
        """What is there after a start from what was stored now."""
        copy = deepcopy(self)
        kept = {key for key, each in copy.transactions.items() if each.prepared}
        for key in list(copy.transactions):
            if key not in kept:
                del copy.transactions[key]
        for name, messages in copy.queues.items():
            copy.queues[name] = [message for message in messages if message.recoverable]
            for message in copy.queues[name]:
                message.purged = False
                if message.holder not in kept:
                    message.holder = None
        return copy
