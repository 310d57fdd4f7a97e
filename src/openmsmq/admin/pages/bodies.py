"""Bodies for pages: as JSON, XML, text or bytes, in parts, and never as markup."""

import re
from typing import Final, NamedTuple

import msgspec
from markupsafe import Markup, escape

from openmsmq.terminal.printable import printable
from openmsmq.wire.bodies import BodyKind, DecodedBody, decode_body_leniently, nrbf_text
from openmsmq.wire.bodies.nrbf_values import NrbfStream
from openmsmq.wire.message.body_type import body_type_name

# Longer bodies are shown in parts of this many bytes or characters, unless settings say otherwise.
PART: Final = 256 * 1024
# The maximum number of lines in one answer, so that browsers stay fast.
MOST_LINES: Final = 4_000
LONGEST_LINE: Final = 8_192
_TOKENS: Final = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=\s*:)|(?P<text>"(?:[^"\\]|\\.)*"?)'
    r"|(?P<mark>[{}\[\],:])|(?P<number>[-+.\w]+)|(?P<other>[^\s\w])"
)
_CLASSES: Final = {"key": "k", "text": "s", "number": "d", "mark": "p", "other": "p"}
_MANY_LINES: Final = f"The first {MOST_LINES:,} lines are shown; Text has all of it."
_LONG_LINES: Final = "Long lines are cut where … stands; Text has all of it."
# The maximum nesting that is indented.
DEEPEST: Final = 40
# A tag, or text between tags; without backtracking.
_XML_LINES: Final = re.compile(r"<[^>]*>|[^<]+|<")


class BodyView(msgspec.Struct, frozen=True, kw_only=True):
    """A body in one form.

    Attributes:
        forms: the forms that fit, with their titles.
        lines: escaped, with spans for colours.
        more: a text about the parts not shown.
        start: where this part begins.
        next: where the next part begins.
        text: the whole body as text, if it is text and short.
    """

    form: str
    title: str
    forms: list[tuple[str, str]]
    note: str
    lines: list[Markup]
    empty: bool = False
    more: str = ""
    start: int = 0
    next: int | None = None
    text: str | None = None


# The apparent form of a body without a type.
_GUESSES: Final = {
    "json": "looks like JSON",
    "xml": "looks like XML",
    "value": "looks like an object of .NET",
    "text": "looks like text",
    "hex": "neither text nor an object",
}
TITLES: Final = {"json": "JSON", "xml": "XML", "value": "Value", "text": "Text", "hex": "Hex"}


def body_view(
    body: bytes, body_type: int, form: str = "", start: int = 0, *, size: int = PART
) -> BodyView:
    """A part of a body, in the requested form or in the best one.

    Args:
        form: one of `TITLES`.
        start: the beginning of the part, from `next` of the part before.
        size: the maximum number of characters or bytes of a part.
    """
    decoded = decode_body_leniently(body_type, body[:size] if not body_type else body)
    best = _best(decoded)
    names = [best] if best not in ("text", "hex") else []
    if decoded.text is not None:
        names.append("text")
    names.append("hex")
    if form not in names:
        form = names[0]
    note = body_type_name(body_type)
    if not body_type and decoded.kind is not BodyKind.EMPTY:
        note += f", {_GUESSES[best]}"
    if decoded.note:
        note += f", {decoded.note}"
    if form == "hex":
        part = _hex_part(body, start, size)
    elif form == "json":
        part = _json_part(decoded.text or "")
    elif form == "xml":
        begun = not body_type and len(body) > size
        part = _xml_part(decoded.text or "", size, begun=begun)
    elif form == "value":
        part = _text_part(_value_text(decoded), start, size)
    else:
        part = _text_part(_whole_text(body, decoded, size), start, size)
    return BodyView(
        form=form,
        title=TITLES[form],
        forms=[(name, TITLES[name]) for name in names],
        note=note,
        lines=part.lines,
        empty=not body,
        more=part.more,
        start=start,
        next=part.next,
        text=decoded.text if len(body) <= size else None,
    )


class _Part(NamedTuple):
    """Lines of a part, a text about their origin, and the beginning of the next part."""

    lines: list[Markup]
    more: str = ""
    next: int | None = None


def _best(decoded: DecodedBody) -> str:
    if decoded.kind is BodyKind.JSON:
        return "json"
    if decoded.kind is BodyKind.XML:
        return "xml"
    if decoded.kind in (BodyKind.VALUE, BodyKind.ARRAY, BodyKind.NULL, BodyKind.OBJECT):
        return "value"
    if decoded.kind is BodyKind.BINARY_FORMATTER:
        return "value"
    return "text" if decoded.text is not None else "hex"


def _value_text(decoded: DecodedBody) -> str:
    if isinstance(decoded.value, NrbfStream):
        return nrbf_text(decoded.value)
    return str(decoded.value)


def _whole_text(body: bytes, decoded: DecodedBody, size: int) -> str:
    """The text of a body that was decoded only in part."""
    if decoded.encoding and decoded.text is not None and len(body) > size:
        return body.decode(decoded.encoding, "replace")
    return decoded.text or ""


def _text_part(text: str, start: int, size: int) -> _Part:
    """This many characters and lines; long lines are cut into several."""
    start = min(start, len(text))
    end = min(start + size, len(text))
    lines: list[Markup] = []
    at = start
    while at < end and len(lines) < MOST_LINES:
        stop = text.find("\n", at, end)
        following = end if stop < 0 else stop + 1
        stop = end if stop < 0 else stop
        if stop - at > LONGEST_LINE:
            stop = following = at + LONGEST_LINE
        lines.append(escape(_visible(text[at:stop])))
        at = following
    if not start and at >= len(text):
        return _Part(lines or [Markup("")])
    more = f"Characters {start + 1:,} to {at:,} of {len(text):,}."
    return _Part(lines, more, at if at < len(text) else None)


def _visible(text: str) -> str:
    """Text with tabs unchanged, and invisible or direction-changing characters made visible."""
    return printable(text.rstrip("\r").replace("\t", "    "))


def _json_part(text: str) -> _Part:
    """JSON with one value per line; only tokens are read, so depth and numbers do not matter."""
    lines: list[Markup] = []
    line: list[Markup] = []
    depth = 0
    cut = False

    def end_line() -> None:
        lines.append(Markup("").join(line))
        line.clear()
        line.append(escape("  " * min(depth, DEEPEST)))

    for token in _TOKENS.finditer(text):
        word = token[0]
        kind = _CLASSES[token.lastgroup or "other"]
        if word in "}]":
            depth = max(0, depth - 1)
            if len(line) > 1 or lines:
                end_line()
        cut = cut or len(word) > LONGEST_LINE
        line.append(Markup('<span class="{}">{}</span>').format(kind, _visible(_shortened(word))))
        if word == ":":
            line.append(escape(" "))
        if word in "{[":
            depth += 1
        if word in "{[,":
            end_line()
        if len(lines) >= MOST_LINES:
            return _Part(lines, _MANY_LINES)
    end_line()
    return _Part(lines, _LONG_LINES if cut else "")


def _shortened(text: str) -> str:
    """A cut line is marked."""
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"


def _xml_part(text: str, size: int, *, begun: bool) -> _Part:
    """XML as sent, one tag per line where it has no line ends; never parsed here.

    Args:
        begun: the text is only the beginning of the body.
    """
    part = text[:size]
    more = ""
    if begun or len(text) > size:
        more = f"The first {len(part):,} characters are shown; Text has all of it."
    if part.count("\n") * 200 < len(part):
        pieces: list[str] = []
        depth = 0
        for piece in _XML_LINES.findall(part):
            if not piece.strip():
                continue
            if piece.startswith("</"):
                depth = max(0, depth - 1)
            pieces.append("  " * min(depth, 40) + piece.strip())
            if piece.startswith("<") and not piece.startswith(("</", "<?", "<!")):
                depth += not piece.endswith("/>")
            if len(pieces) > MOST_LINES:
                break
        part = "\n".join(pieces)
    lines = []
    for line in part.split("\n"):
        marked = Markup("").join(
            Markup('<span class="k">{}</span>').format(_visible(piece))
            if piece.startswith("<")
            else escape(_visible(piece))
            for piece in _XML_LINES.findall(_shortened(line))
        )
        if len(line) > LONGEST_LINE and not more:
            more = _LONG_LINES
        lines.append(marked)
        if len(lines) == MOST_LINES:
            return _Part(lines, _MANY_LINES)
    return _Part(lines, more)


def _hex_part(body: bytes, start: int, size: int) -> _Part:
    """Sixteen bytes per line, with their characters."""
    start = min(start, len(body)) & ~15
    end = min(start + min(size // 4, 16 * MOST_LINES) & ~15, len(body))
    lines = []
    for at in range(start, end, 16):
        row = body[at : min(at + 16, end)]
        characters = "".join(chr(b) if 32 <= b < 127 else "." for b in row)
        lines.append(
            Markup('<span class="p">{}</span>  {}  <span class="p">{}</span>').format(
                f"{at:06x}", f"{row.hex(' '):<47}", characters
            )
        )
    if not start and end >= len(body):
        return _Part(lines)
    more = f"Bytes {start:,} to {end:,} of {len(body):,}."
    return _Part(lines, more, end if end < len(body) else None)
