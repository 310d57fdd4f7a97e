"""Messages about rows that cannot be sent."""

import base64
import json
from datetime import date, datetime
from typing import Any, Final

import pyarrow as pa

from openmsmq.client.message import Message

from .row_encoder import RowFault

MAX_LABEL: Final = 249
# What a message about a row shows of its values.
MAX_VALUES: Final = 1024 * 1024


def dead_letter(batch: pa.RecordBatch, fault: RowFault, place: str) -> Message:
    """A message with the reason as its label and the row as JSON in its body.

    Values of bytes are in base64. What is too long is cut; `cut` names the columns.
    """
    (row,) = batch.slice(fault.row, 1).to_pylist()
    left = MAX_VALUES
    shown: dict[str, Any] = {}
    cut: list[str] = []
    for name, value in row.items():
        shown[name] = _shown(value, left)
        if isinstance(value, str | bytes):
            if len(value) > left:
                cut.append(name)
            left = max(left - len(value), 0)
    document = {
        "reason": fault.reason,
        "column": fault.column,
        "at": place,
        "cut": cut,
        "row": shown,
    }
    reason = f"{fault.column}: {fault.reason}".replace("\0", " ")
    # Characters beyond U+FFFF count twice, so half as many always fit.
    label = reason if reason.isascii() else reason[: MAX_LABEL // 2]
    return Message(
        json.dumps(document, ensure_ascii=False, default=str).encode("utf-8", "replace"),
        label[:MAX_LABEL],
        delivery="recoverable",
    )


def _shown(value: object, left: int) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value[:left]).decode("ascii")
    if isinstance(value, str):
        return value[:left]
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value
