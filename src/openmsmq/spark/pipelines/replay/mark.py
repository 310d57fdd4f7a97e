"""The mark of a replayed message: a record at the end of its extension.

Our GUID, the size of the rest in four bytes (big-endian), and JSON with the key of the replay and
the id of the original message. The data of the application in the extension precedes it.
"""

import json
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

if TYPE_CHECKING:
    from pyspark.sql import Column

MARK: Final = UUID("6f5d3c1e-8a4b-4c57-9d0e-2b7a61c4f390")
_SIZE: Final = 4


class ReplayMark(NamedTuple):
    """What a mark says."""

    key: str
    id: str


def read_mark(extension: bytes | None) -> ReplayMark | None:
    """The last mark of an extension; None when the message was not replayed."""
    data = extension or b""
    start = data.rfind(MARK.bytes_le)
    if start < 0:
        return None
    body = data[start + len(MARK.bytes_le) :]
    size = int.from_bytes(body[:_SIZE], "big")
    try:
        document = json.loads(body[_SIZE : _SIZE + size])
        return ReplayMark(str(document["key"]), str(document["id"]))
    except (ValueError, KeyError, TypeError):
        return None


def marked(extension: "Column", message_id: "Column", key: str) -> "Column":
    """The extension of a message, followed by the mark."""
    from pyspark.sql import functions as f

    mark = f.to_json(f.struct(f.lit(key).alias("key"), message_id.alias("id")))
    size = f.lpad(f.hex(f.octet_length(mark)), 2 * _SIZE, "0")
    nothing = f.unhex(f.lit(""))
    return f.concat(
        f.coalesce(extension, nothing),
        f.unhex(f.lit(MARK.bytes_le.hex())),
        f.unhex(size),
        f.encode(mark, "utf-8"),
    )
