"""Values from callers in error texts."""

from typing import Final

SHOWN_CHARACTERS: Final = 60


def value_text(value: object) -> str:
    """A value as text, cut short; for bytes and objects only their type."""
    if isinstance(value, bytes):
        return f"a value of {len(value)} bytes"
    if isinstance(value, str):
        return f"'{value if len(value) <= SHOWN_CHARACTERS else value[:SHOWN_CHARACTERS] + '…'}'"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:g}"
    return f"a value of type {type(value).__name__}"
