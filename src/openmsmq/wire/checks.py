"""Bounds checks shared by all parsers: compare before use, fail with `MalformedPacket`."""

from .errors import MalformedPacket


def require(buf: bytes | memoryview, offset: int, size: int, field: str) -> int:
    """Return the end of `size` bytes at `offset`, which must lie inside the buffer."""
    end = offset + size
    if size < 0 or offset < 0 or end > len(buf):
        raise MalformedPacket(
            field, offset, f"needs {size} bytes, {max(len(buf) - offset, 0)} remain"
        )
    return end


def pad4(size: int) -> int:
    """Round up to a multiple of four."""
    return (size + 3) & ~3


def padded_end(buf: bytes | memoryview, start: int, end: int) -> int:
    """Round `end` up to four bytes from `start`; the last header may leave out its padding."""
    return min(start + pad4(end - start), len(buf))


def decode_utf16(raw: bytes | memoryview, offset: int, field: str) -> str:
    """Decode UTF-16LE text; `offset` says where it stands, for the error."""
    try:
        return bytes(raw).decode("utf-16-le")
    except UnicodeDecodeError as exc:
        raise MalformedPacket(field, offset + exc.start, "not UTF-16LE text") from exc
