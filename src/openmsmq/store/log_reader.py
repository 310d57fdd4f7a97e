"""Reading segments: one frame after the other, and the treatment of invalid ones.

A torn frame was being written when the power failed: it was never acknowledged, so it is
cut off. Any other fault is damage, and damage stops the start. docs/store.md explains how
to distinguish them.
"""

from typing import Final, NamedTuple

from .files import File
from .frame import Changes, Place, decode, looks_torn, unsound_parts
from .log_format import (
    ALIGNMENT,
    FIRST_FRAME,
    FRAME_HEADER_SIZE,
    FRAME_MAGIC,
    KIND_BATCH,
    KIND_ROLL,
    SECTOR,
    Damage,
    FrameHeader,
    SegmentHeader,
)

_WINDOW: Final = 4 << 20
_ZEROS: Final = bytes(_WINDOW)


class Frame(NamedTuple):
    """A valid frame."""

    place: Place
    header: FrameHeader
    meta: memoryview

    @property
    def next_place(self) -> Place:
        """The end position of the frame, where the next one starts."""
        segment, offset, sequence = self.place
        return Place(segment, offset + self.header.length, sequence + 1)


class Tear(NamedTuple):
    """The rest of a frame that was being written; zeros belong there."""

    offset: int
    end: int
    reason: str


class SegmentReader:
    """One segment, read through a window."""

    def __init__(self, file: File, name: str) -> None:
        self._file = file
        self.name = name
        self.header = SegmentHeader.parse(file.read(0, SECTOR), name)
        self.size = file.size()
        if self.size != self.header.size:
            raise Damage(
                name,
                min(self.size, self.header.size),
                f"the file has {self.size} bytes, its header says {self.header.size}",
            )
        self._start = 0
        self._window = memoryview(b"")

    def view(self, offset: int, length: int) -> memoryview:
        """The bytes; fewer at the end of the segment."""
        start = offset - self._start
        if start < 0 or start + length > len(self._window):
            self._window = memoryview(self._file.read(offset, max(length, _WINDOW)))
            self._start = offset
            start = 0
        return self._window[start : start + length]

    def first_place(self) -> Place:
        """The place of the first frame, as its header says."""
        header = FrameHeader.parse(self.view(FIRST_FRAME, FRAME_HEADER_SIZE))
        return Place(self.header.number, FIRST_FRAME, header.sequence if header else 0)

    def damage(self, offset: int, reason: str) -> Damage:
        """The error that stops a start."""
        return Damage(self.name, offset, reason)

    def frame(self, place: Place, store_tag: int) -> Frame | Tear | None:
        """The frame expected at a position, or None at the end of the log.

        Raises:
            Damage: it is invalid, and not torn.
        """
        offset = place.offset
        if offset + FRAME_HEADER_SIZE > self.size:
            raise self.damage(offset, "the segment ends without a frame that ends it")
        raw = self.view(offset, FRAME_HEADER_SIZE)
        header = FrameHeader.parse(raw)
        if header is None:
            return self._no_frame(place, store_tag, bytes(raw))
        expected = (store_tag, place.segment, place.sequence)
        if header[1:4] != expected or header.kind not in (KIND_BATCH, KIND_ROLL):
            raise self.damage(
                offset,
                f"batch {header.sequence} of segment {header.segment} where batch "
                f"{place.sequence} of segment {place.segment} belongs",
            )
        if offset + header.length > self.size:
            raise self.damage(offset, "a batch reaches beyond the end of the segment")
        raw = self.view(offset, header.length)
        bad = unsound_parts(header, raw, offset)
        if bad:
            return self._unsound(place, header, bad)
        return Frame(place, header, raw[FRAME_HEADER_SIZE : FRAME_HEADER_SIZE + header.meta_length])

    def changes(self, frame: Frame) -> Changes:
        """The changes of a frame to the index.

        Raises:
            Damage: its checksums are valid and its contents are not.
        """
        try:
            return decode(frame.header, frame.meta)
        except ValueError as exc:
            raise self.damage(frame.place.offset, str(exc)) from exc

    def _unsound(self, place: Place, header: FrameHeader, bad: list[tuple[int, int]]) -> Tear:
        """A frame with a valid header and wrong contents."""
        offset = place.offset
        wrong = offset + bad[0][0]
        after = offset + header.length
        follower = self.view(after, FRAME_HEADER_SIZE)
        if self._is_later(follower, header.store_tag, place.sequence):
            raise self.damage(wrong, f"batch {place.sequence} is damaged; sound batches follow")
        if not looks_torn(header, self.view(offset, header.length), offset, bad):
            raise self.damage(wrong, f"batch {place.sequence} is damaged, and not by a torn write")
        return Tear(offset, max(after, self.last_written(offset)), "a batch is torn")

    def _no_frame(self, place: Place, store_tag: int, raw: bytes) -> Tear | None:
        """No valid header: the end of the log, a torn frame or damage."""
        offset = place.offset
        end = self.last_written(offset)
        if end <= offset:
            return None
        later = self.later_frame(place, store_tag)
        if later is not None:
            raise self.damage(
                offset, f"batch {place.sequence} is damaged; sound batches follow at {later}"
            )
        # A header lies in one sector: it is complete or missing, unless the write was cut short.
        if raw.strip(b"\0") and not (raw.endswith(b"\0") and end <= offset + len(raw)):
            raise self.damage(offset, f"the header of batch {place.sequence} is damaged")
        return Tear(offset, end, "the header of a batch is torn")

    def later_frame(self, place: Place, store_tag: int) -> int | None:
        """The start of a frame after the one at `place`, if there is any."""
        for start in range(place.offset, self.size, _WINDOW):
            chunk = bytes(self.view(start, min(_WINDOW, self.size - start)))
            position = chunk.find(FRAME_MAGIC)
            while position >= 0:
                raw = chunk[position : position + FRAME_HEADER_SIZE]
                if position % ALIGNMENT == 0 and self._is_later(raw, store_tag, place.sequence):
                    return start + position
                position = chunk.find(FRAME_MAGIC, position + 1)
        return None

    def _is_later(self, raw: bytes | memoryview, store_tag: int, sequence: int) -> bool:
        header = FrameHeader.parse(raw) if len(raw) == FRAME_HEADER_SIZE else None
        return header is not None and (
            header.store_tag == store_tag
            and header.segment == self.header.number
            and header.sequence > sequence
        )

    def last_written(self, offset: int) -> int:
        """The offset, from `offset` on, after which only zeros follow in the segment."""
        end = offset
        for start in range(offset, self.size, _WINDOW):
            chunk = bytes(self.view(start, min(_WINDOW, self.size - start)))
            if chunk != (_ZEROS if len(chunk) == _WINDOW else bytes(len(chunk))):
                end = start + len(chunk.rstrip(b"\0"))
        return end

    def close(self) -> None:
        self._file.close()
