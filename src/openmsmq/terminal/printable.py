"""Text from others, made harmless for a terminal."""


def printable(text: str) -> str:
    """The text with everything escaped that could move the cursor or hide something."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )
