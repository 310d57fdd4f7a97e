"""Bodies as pages show them: as JSON, XML, text or bytes, in parts, and never as markup."""

import re
from typing import Final

import msgspec
from markupsafe import Markup, escape

from openmsmq.terminal.printable import printable
from openmsmq.wire.bodies import BodyKind, DecodedBody, decode_body_leniently, nrbf_text
from openmsmq.wire.bodies.nrbf_values import NrbfStream
from openmsmq.wire.message.body_type import body_type_name

# Longer bodies are shown in parts of this many bytes or characters.
PART: Final = 256 * 1024
# What is worth to be read as JSON and written again in lines.
LARGEST_JSON: Final = PART
# Lines that one answer has at most, so that browsers stay quick.
MOST_LINES: Final = 4_000
LONGEST_LINE: Final = 8_192
_TOKENS: Final = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=\s*:)|(?P<text>"(?:[^"\\]|\\.)*"?)'
    r"|(?P<mark>[{}\[\],:])|(?P<number>[-+.\w]+)|(?P<other>[^\s\w])"
)
_CLASSES: Final = {"key": "k", "text": "s", "number": "d", "mark": "p", "other": "p"}
# Structures inside each other that are still indented.
DEEPEST: Final = 40
# A tag, or text between tags; without backtracking.
_XML_LINES: Final = re.compile(r"<[^>]*>|[^<]+|<")


class BodyView(msgspec.Struct, frozen=True, kw_only=True):
    """A body in one form.

    Attributes:
        forms: the forms that fit, with their titles.
        lines: escaped, with spans for colours.
        more: what is not shown, in words.
        next: the number of the next part.
        text: the whole body as text, if it is text and short.
    """

    form: str
    title: str
    forms: list[tuple[str, str]]
    note: str
    lines: list[Markup]
    empty: bool = False
    more: str = ""
    next: int | None = None
    text: str | None = None


TITLES: Final = {"json": "JSON", "xml": "XML", "value": "Value", "text": "Text", "hex": "Hex"}


def body_view(body: bytes, body_type: int, form: str = "", part: int = 0) -> BodyView:
    """A part of a body, in the form that was asked for or in the one that fits best."""
    decoded = decode_body_leniently(body_type, body[:LARGEST_JSON] if not body_type else body)
    best = _best(decoded)
    names = [best] if best not in ("text", "hex") else []
    if decoded.text is not None:
        names.append("text")
    names.append("hex")
    if form not in names:
        form = names[0]
    note = body_type_name(body_type)
    if not body_type and decoded.kind is not BodyKind.EMPTY:
        note += f", looks like {TITLES.get(best, best)}"
    if decoded.note:
        note += f", {decoded.note}"
    start = part * PART
    if form == "hex":
        lines, more = _hex_lines(body, start)
    elif form == "json":
        lines, more = _json_lines(decoded.text or "")
    elif form == "xml":
        lines, more = _xml_lines(decoded.text or "", start)
    elif form == "value":
        lines, more = _plain_lines(_value_text(decoded), start)
    else:
        lines, more = _plain_lines(_whole_text(body, decoded), start)
    size = len(body)
    following = (
        part + 1 if more and start + PART < max(size, 1) and form in ("hex", "text") else None
    )
    return BodyView(
        form=form,
        title=TITLES[form],
        forms=[(name, TITLES[name]) for name in names],
        note=note,
        lines=lines,
        empty=not body,
        more=more,
        next=following,
        text=decoded.text if size <= PART else None,
    )


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


def _whole_text(body: bytes, decoded: DecodedBody) -> str:
    """The text of a body that was only begun to be decoded."""
    if decoded.encoding and decoded.text is not None and len(body) > LARGEST_JSON:
        return body.decode(decoded.encoding, "replace")
    return decoded.text or ""


def _plain_lines(text: str, start: int) -> tuple[list[Markup], str]:
    part = text[start : start + PART]
    lines = []
    for line in part.split("\n"):
        for at in range(0, max(len(line), 1), LONGEST_LINE):
            lines.append(escape(_visible(line[at : at + LONGEST_LINE])))
            if len(lines) == MOST_LINES:
                return lines, f"The first {MOST_LINES:,} lines are shown."
    more = ""
    if start + PART < len(text) or start:
        end = min(start + PART, len(text))
        more = f"Characters {start + 1:,} to {end:,} of {len(text):,}."
    return lines, more


def _visible(text: str) -> str:
    """Text with tabs as they are, and what hides or turns other text made visible."""
    return printable(text.rstrip("\r").replace("\t", "    "))


def _json_lines(text: str) -> tuple[list[Markup], str]:
    """JSON with one value a line; only tokens are read, so depth and numbers do not matter."""
    lines: list[Markup] = []
    line: list[Markup] = []
    depth = 0

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
        piece = Markup('<span class="{}">{}</span>').format(kind, _visible(word[:LONGEST_LINE]))
        line.append(piece)
        if word == ":":
            line.append(escape(" "))
        if word in "{[":
            depth += 1
        if word in "{[,":
            end_line()
        if len(lines) >= MOST_LINES:
            return lines, f"The first {MOST_LINES:,} lines are shown; Text has all of it."
    end_line()
    return lines, ""


def _xml_lines(text: str, start: int) -> tuple[list[Markup], str]:
    """XML as it was sent, one tag a line where it has no lines of its own; never parsed here."""
    part = text[start : start + PART]
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
            for piece in _XML_LINES.findall(line[:LONGEST_LINE])
        )
        lines.append(marked)
        if len(lines) == MOST_LINES:
            return lines, f"The first {MOST_LINES:,} lines are shown; Text has all of it."
    return lines, ""


def _hex_lines(body: bytes, start: int) -> tuple[list[Markup], str]:
    """Sixteen bytes a line, with their characters."""
    start = start // 4
    end = min(start + PART // 4, len(body))
    lines = []
    for at in range(start, end, 16):
        row = body[at : at + 16]
        characters = "".join(chr(b) if 32 <= b < 127 else "." for b in row)
        lines.append(
            Markup('<span class="p">{}</span>  {}  <span class="p">{}</span>').format(
                f"{at:06x}", f"{row.hex(' '):<47}", characters
            )
        )
        if len(lines) == MOST_LINES:
            end = at + 16
            break
    more = "" if not start and end >= len(body) else f"Bytes {start:,} to {end:,} of {len(body):,}."
    return lines, more
