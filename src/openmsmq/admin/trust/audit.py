"""The audit log: user and action, written before the action and again with its result."""

import heapq
import os
import sys
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from .audit_files import newest_lines
from .person import Person
from .problems import Problem

FILE_NAME: Final = "audit.jsonl"
# A full file is renamed; this many old ones are kept.
LARGEST_FILE: Final = 16 * 1024 * 1024
OLD_FILES: Final = 4
# Entries kept in memory: those that no file could take, or all if there is none.
KEPT: Final = 2_000


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line.

    Attributes:
        number: counts the actions since the console started; an action and its result share it.
        time: ISO 8601, UTC.
        principal, credential, role, address: the caller; of a refused sign-in the address only.
        action: the name of the endpoint, or `sign_in` or `sign_out`.
        target: the object, such as a queue, an outgoing queue, or a token's name, with details.
        filter: the selection of messages, as text or as JSON.
        count: the number of messages, or of changes of definitions.
        result: `begun`, `done`, `refused`, or the name of an error.
        job: the number of the job that does it.
        key: identifies the Idempotency-Key of the request, if it had one.
    """

    number: int
    time: str
    principal: str
    credential: str
    role: str
    address: str
    action: str
    target: str = ""
    filter: str = ""
    count: int | None = None
    result: str = "begun"
    job: str = ""
    key: str = ""


class AuditLog:
    """Keeps entries in a file that is rotated.

    Args:
        folder: where the file is; None keeps the last entries in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / FILE_NAME
        self._unwritten: deque[Entry] = deque(maxlen=KEPT)
        self._number = 0
        if self._path is not None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._end_line(self._path)

    def begin(self, person: Person, action: str, **details: Any) -> Entry:
        """Record an action before it is carried out.

        Raises:
            Problem: 503, it cannot be written; then the action must not be carried out.
        """
        entry = self._entry(action, person, **details)
        try:
            self._append(entry)
        except OSError as exc:
            raise Problem(
                503,
                f"The audit log cannot be written: {exc.strerror}.",
                cause="Its disk is full, or something is wrong with its file or folder.",
                remedy=f"Nothing was changed. Mend {self._path}, then try again.",
                name="AUDIT_NOT_WRITTEN",
            ) from exc
        return entry

    def end(self, entry: Entry, result: str, **details: Any) -> None:
        """Record the result of an action, which is final even if the write fails."""
        self._note(msgspec.structs.replace(entry, time=_now(), result=result, **details))

    def note(self, action: str, person: Person, result: str) -> None:
        """Record an action that does not depend on the file, such as signing in.

        Args:
            person: has only an address if the caller is unknown.
        """
        self._note(self._entry(action, person, result=result))

    def newest(self) -> Iterator[Entry]:
        """Every entry, the newest first; files are read as far as entries are taken.

        It may be read in another thread; lines that a crash cut off are left out.
        """
        unwritten = list(reversed(self._unwritten))
        return heapq.merge(unwritten, self._written(), key=lambda entry: entry.time, reverse=True)

    def keyed(self, most: int) -> list[Entry]:
        """Those of so many last entries that have a key, the oldest first."""
        return [entry for entry in islice(self.newest(), most) if entry.key][::-1]

    def _entry(self, action: str, person: Person, **details: Any) -> Entry:
        self._number += 1
        return Entry(
            number=self._number,
            time=_now(),
            principal=person.principal,
            credential=person.credential,
            role=person.role.word if person.principal else "",
            address=person.address,
            action=action,
            **details,
        )

    def _note(self, entry: Entry) -> None:
        try:
            self._append(entry)
        except OSError as exc:
            # What the console writes to its error output is in the log of the queue manager.
            sys.stderr.write(f"The audit log cannot be written ({exc.strerror}): {entry}\n")
            self._unwritten.append(entry)

    def _append(self, entry: Entry) -> None:
        if self._path is None:
            self._unwritten.append(entry)
            return
        self._rotate(self._path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with os.fdopen(os.open(self._path, flags, 0o600), "ab") as file:
            file.write(msgspec.json.encode(entry) + b"\n")

    def _rotate(self, path: Path) -> None:
        if not path.exists() or path.stat().st_size < LARGEST_FILE:
            return
        files = _files(path)
        for older, newer in zip(files[:0:-1], files[-2::-1], strict=True):
            if newer.exists():
                newer.replace(older)

    def _end_line(self, path: Path) -> None:
        """End a line that a crash cut off, so that the next one can be read."""
        if path.exists() and path.stat().st_size:
            with path.open("r+b") as file:
                file.seek(-1, os.SEEK_END)
                if file.read() != b"\n":
                    file.write(b"\n")

    def _written(self) -> Iterator[Entry]:
        if self._path is None:
            return
        for line in newest_lines(_files(self._path)):
            try:
                yield msgspec.json.decode(line, type=Entry)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue


def _files(path: Path) -> list[Path]:
    """The file and the old ones, the newest first."""
    return [path, *(path.with_suffix(f".{number}.jsonl") for number in range(1, OLD_FILES + 1))]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
