"""What clients were told, and what must therefore be so after a crash.

A body stands for a message: no two messages have the same. Changes are groups that take effect
whole or not at all; a change whose answer was not seen is open until somebody looks.
"""

import threading
from collections import Counter
from collections.abc import Iterable

GONE = ""
"""The place of a message that is in no queue."""


class Change:
    """Messages that go from one place to another together."""

    __slots__ = ("after", "before", "bodies")

    def __init__(self, bodies: list[bytes], before: str, after: str) -> None:
        self.bodies = bodies
        self.before = before
        self.after = after


class Ledger:
    """Where every message is, as far as clients know. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[bytes, str] = {}
        # Several clients may want the same message; one of them gets it.
        self._open: dict[bytes, list[Change]] = {}
        self._names: dict[int, bytes] = {}
        self._ordinals: dict[bytes, int] = {}
        self._used_ordinals: dict[int, bytes] = {}
        self.counts: Counter[str] = Counter()

    # Changes

    def begin(self, bodies: list[bytes], before: str, after: str) -> Change:
        """A change is about to be asked for."""
        with self._lock:
            change = Change(bodies, before, after)
            for body in bodies:
                self._open.setdefault(body, []).append(change)
            return change

    def done(self, change: Change) -> None:
        """The change was acknowledged."""
        with self._lock:
            self.counts[f"{change.before or 'nowhere'} to {change.after or 'nowhere'}"] += 1
            self._settle(change, happened=True)

    def refused(self, change: Change) -> None:
        """The change was refused: nothing happened."""
        with self._lock:
            self._settle(change, happened=False)

    def seen(self, bodies: Iterable[bytes], place: str) -> None:
        """Messages were shown in a place, so whatever brought them there is true."""
        with self._lock:
            for body in bodies:
                for change in list(self._open.get(body, ())):
                    if change.after == place:
                        self._settle(change, happened=True)

    def _settle(self, change: Change, *, happened: bool) -> None:
        for body in change.bodies:
            changes = self._open.get(body, [])
            if change not in changes:
                # Somebody saw what came of it before its own client did.
                return
            changes.remove(change)
            if not changes:
                del self._open[body]
            if happened and change.after == GONE:
                del self._places[body]
            elif happened:
                self._places[body] = change.after

    # Identity

    def named(self, body: bytes, lookup_id: int) -> None:
        """A message was shown under a lookup id, which never stands for another one."""
        with self._lock:
            known = self._names.setdefault(lookup_id, body)
            assert known == body, f"lookup id {lookup_id} was {known!r} and is now {body!r}"

    def numbered(self, body: bytes, ordinal: int) -> None:
        """A message has an ordinal, for ever and alone."""
        with self._lock:
            known = self._ordinals.setdefault(body, ordinal)
            assert known == ordinal, f"{body!r} was message {known} and is now {ordinal}"
            user = self._used_ordinals.setdefault(ordinal, body)
            assert user == body, f"message {ordinal} was {user!r} and is now {body!r}"

    # After a crash

    def check(self, found: dict[str, list[bytes]]) -> None:
        """Compare with what is in all places now, and settle what was open."""
        with self._lock:
            where: dict[bytes, str] = {}
            for place, bodies in found.items():
                for body in bodies:
                    assert body not in where, f"{body!r} is in {where[body]} and in {place}"
                    where[body] = place
            changes = [change for each in self._open.values() for change in each]
            for change in {id(change): change for change in changes}.values():
                self._check_change(change, where)
            for body, place in self._places.items():
                now = where.pop(body, GONE)
                assert now == place, f"{body!r} is {now or 'lost'}, but {place} was acknowledged"
            assert not where, f"nobody sent, or all were told it is gone: {where}"

    def _check_change(self, change: Change, where: dict[bytes, str]) -> None:
        """It happened to all of its messages, or to none."""
        able = [self._places.get(body, GONE) == change.before for body in change.bodies]
        came = [where.get(body, GONE) == change.after for body in change.bodies]
        # A message that somebody else took before cannot have followed this change.
        happened = all(able) and all(came)
        half = [
            body for body, can, did in zip(change.bodies, able, came, strict=True) if can and did
        ]
        assert happened or not half, f"half a change: of {change.bodies} only {half} took part"
        self.counts["open: " + ("took effect" if happened else "did not")] += 1
        self._settle(change, happened=happened)
