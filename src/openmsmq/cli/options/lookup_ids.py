"""Lookup ids as options."""

from typing import Final

import typer

_MOST: Final = (1 << 64) - 1


def parse_lookup_id(text: str) -> int:
    """The lookup id in a word.

    Raises:
        BadParameter: it is none.
    """
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(_MOST)) or int(text) > _MOST:
        raise typer.BadParameter(f"{text!r} is not a lookup id such as 288230376151711748")
    return int(text)
