"""The frames of [MS-MQQB] 4.1, from tests/vectors/mqqb-frames.json."""

import json
from pathlib import Path
from typing import Any

_PATH = Path(__file__).parents[1] / "vectors" / "mqqb-frames.json"


# Any: the vectors are free-form JSON.
def frame(number: int) -> dict[str, Any]:
    """All that is known about frame 1..8."""
    found: dict[str, Any] = json.loads(_PATH.read_text())["frames"][number - 1]
    return found


def frame_bytes(number: int) -> bytes:
    """The bytes of a frame; frame 7, whose dump is cut short, as its note says to repair it."""
    found = frame(number)
    raw = bytes.fromhex(found["hex"])
    repair = found.get("rebuild")
    if repair is None:
        return raw
    body = bytes.fromhex(repair["body_unit_hex"]) * int(repair["body_units"])
    return raw[: repair["prefix_bytes"]] + body + bytes(repair["padding_bytes"])
