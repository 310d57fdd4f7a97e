"""Compaction: live messages of a sparse segment are rewritten at the end of the log."""

from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from .files import Files
from .frame import Move, Place
from .index import Index
from .log_format import ENTRY, KIND_ROLL, PLACE, Damage, tag_of
from .log_reader import Frame, SegmentReader
from .segments import segment_name

MOVES_PER_WRITE: Final = 256 << 10
"""The size of moved packets added to one commit."""


class Piece(NamedTuple):
    """Messages read from a segment; some of them may be deleted by now."""

    moves: list[Move]
    done: bool
    damage: Damage | None = None


class SegmentDrain:
    """Reads a segment piece by piece; in any thread, one call at a time."""

    def __init__(self, files: Files, directory: Path, number: int) -> None:
        self._files = files
        self._path = directory / segment_name(number)
        self.number = number
        self._reader: SegmentReader | None = None
        self._place: Place | None = None
        self._store_tag = 0

    def piece(self, size: int) -> Piece:
        """The next messages, about `size` bytes of them."""
        try:
            return self._piece(size)
        except Damage as exc:
            return Piece([], True, exc)

    def _piece(self, size: int) -> Piece:
        reader, place = self._open()
        moves: list[Move] = []
        limit = place.offset + size
        while place.offset < limit:
            frame = reader.frame(place, self._store_tag)
            if not isinstance(frame, Frame):
                raise reader.damage(place.offset, f"batch {place.sequence} is damaged")
            if frame.header.kind == KIND_ROLL:
                return Piece(moves, True)
            changes = reader.changes(frame)
            for entry in chain(changes.put_entries, changes.move_entries):
                key, _, offset, length, _, _ = ENTRY.unpack_from(entry)
                moves.append(Move(key, entry, bytes(reader.view(offset, length))))
            place = frame.next_place
        self._place = place
        return Piece(moves, False)

    def _open(self) -> tuple[SegmentReader, Place]:
        if self._reader is None or self._place is None:
            self._reader = SegmentReader(self._files.open(self._path), self._path.name)
            self._store_tag = tag_of(self._reader.header.store_id)
            self._place = self._reader.first_place()
        return self._reader, self._place

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()


class PendingMoves:
    """Messages that were read and wait for the next commits; used by the owner."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.waiting: list[Move] = []

    def add(self, moves: list[Move]) -> None:
        """Keep them for the next frames."""
        self.waiting += reversed(moves)

    def take(self) -> list[Move]:
        """The moves for the next frame: messages whose live copy is still where it was read."""
        moves: list[Move] = []
        size = 0
        while self.waiting and size < MOVES_PER_WRITE:
            move = self.waiting.pop()
            if self._is_live(move):
                moves.append(move)
                size += len(move.packet)
        return moves

    def _is_live(self, move: Move) -> bool:
        entry = self._index.entries.get(move.key)
        return entry is not None and entry[PLACE] == move.entry[PLACE]
