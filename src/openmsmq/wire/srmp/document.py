"""The XML document of an envelope, read with expat into the elements that SRMP knows.

Elements are identified by namespace; prefixes, order and white space do not matter, and unknown
elements are skipped. Input of any size costs little: there is no DTD, so that no entity can be
defined, and size, depth and the numbers of elements and attributes are limited.
"""

import re
from typing import Final
from xml.parsers import expat

from openmsmq.wire.errors import MalformedPacket

from .elements import (
    BODY,
    ENTRIES,
    ENVELOPE,
    HEADER,
    MUST_UNDERSTAND,
    SEPARATOR,
    SIGNATURE_ENTRY,
    Shape,
)

MAX_ENVELOPE_SIZE: Final = 0x100000
MAX_DEPTH: Final = 64
MAX_ELEMENTS: Final = 10_000
MAX_ATTRIBUTES: Final = 64
MAX_NAMESPACES: Final = 1000
TEXT_BUFFER_SIZE: Final = 0x10000
# Not less: expat may scan a tag again with each piece of it.
PIECE_SIZE: Final = 0x10000
_FIELD: Final = "Envelope"
_SLASH: Final = 0x2F
# A tag, with attributes that may hold a `>`.
_TAG: Final = re.compile(rb"""<(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""")


class Element:
    """An element that was read: its text, and its known children by local name."""

    __slots__ = ("_pieces", "children", "offset", "shape")

    def __init__(self, shape: Shape, offset: int) -> None:
        self.shape = shape
        self.offset = offset
        self._pieces: list[str] = []
        self.children: dict[str, Element] = {}

    def add_text(self, text: str) -> None:
        """Take the next piece of the text."""
        self._pieces.append(text)

    @property
    def text(self) -> str:
        """The text, with the white space around it."""
        return "".join(self._pieces)


def _check_bytes(raw: bytes) -> None:
    """Refuse what is too large or not UTF-8: expat would find out by itself what else it is."""
    if len(raw) > MAX_ENVELOPE_SIZE:
        raise MalformedPacket(
            _FIELD, MAX_ENVELOPE_SIZE, f"{len(raw)} bytes are more than {MAX_ENVELOPE_SIZE}"
        )
    nul = raw.find(0)
    if nul >= 0:
        raise MalformedPacket(_FIELD, nul, "a NUL")
    try:
        raw.decode()
    except UnicodeDecodeError as exc:
        raise MalformedPacket(_FIELD, exc.start, "not UTF-8") from exc


class Document:
    """The header entries of an envelope by local name, and the bytes of its <Signature>.

    Args:
        raw: the envelope.
        lenient: accept unknown entries that must be understood.

    Raises:
        MalformedPacket: the bytes are not an envelope, or it is too large.
    """

    __slots__ = (
        "_count",
        "_depth",
        "_lenient",
        "_namespaces",
        "_open",
        "_parser",
        "_parts",
        "_raw",
        "entries",
        "signature",
    )

    def __init__(self, raw: bytes, *, lenient: bool = False) -> None:
        _check_bytes(raw)
        self._lenient = lenient
        self.entries: dict[str, Element] = {}
        self.signature = b""
        self._raw = raw
        # The local names of <Header> and <Body> as far as they have come.
        self._parts: list[str] = []
        # The known elements that are open below <Header>; the last ones may be unknown (None).
        self._open: list[Element | None] = []
        self._depth = 0
        self._count = 0
        self._namespaces = 0
        self._parser = parser = expat.ParserCreate("utf-8", SEPARATOR)
        parser.buffer_text = True
        parser.buffer_size = TEXT_BUFFER_SIZE
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartNamespaceDeclHandler = self._namespace
        try:
            self._parse()
        except expat.ExpatError as exc:
            reason = expat.ErrorString(exc.code)
            raise MalformedPacket(_FIELD, max(parser.ErrorByteIndex, 0), reason) from exc
        finally:
            # The handlers are methods of this object: without them there is no cycle to collect.
            parser.StartElementHandler = None
            parser.EndElementHandler = None
            parser.CharacterDataHandler = None
            parser.StartDoctypeDeclHandler = None
            parser.StartNamespaceDeclHandler = None
        if self._parts != ["Header", "Body"]:
            raise MalformedPacket("Envelope.Body", len(raw), "there is no <Body>")

    def _parse(self) -> None:
        """Parse in pieces: after a fault in a handler, expat goes on to the end of a piece."""
        raw = self._raw
        for start in range(0, len(raw), PIECE_SIZE):
            self._parser.Parse(raw[start : start + PIECE_SIZE], False)
        self._parser.Parse(b"", True)

    def _fault(self, field: str, reason: str) -> MalformedPacket:
        return MalformedPacket(field, self._parser.CurrentByteIndex, reason)

    def _doctype(self, *_: object) -> None:
        # [SOAP1.1] 3: no DTD. Entities are defined there, so that none can grow or lead elsewhere.
        raise self._fault(_FIELD, "a document type declaration")

    def _namespace(self, *_: object) -> None:
        self._namespaces += 1
        if self._namespaces > MAX_NAMESPACES:
            raise self._fault(_FIELD, f"more than {MAX_NAMESPACES} namespace declarations")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        self._depth += 1
        if self._depth > MAX_DEPTH or self._count > MAX_ELEMENTS:
            limits = f"{MAX_DEPTH} levels or {MAX_ELEMENTS} elements"
            raise self._fault(_FIELD, f"more than {limits}")
        if len(attributes) > MAX_ATTRIBUTES:
            raise self._fault(_FIELD, f"more than {MAX_ATTRIBUTES} attributes")
        if self._depth == 1:
            if name != ENVELOPE:
                raise self._fault(_FIELD, "the root element is not <Envelope> of SOAP 1.1")
        elif self._depth == 2:
            self._start_part(name)
        elif self._parts == ["Header"]:
            if self._depth == 3:
                self._start_entry(name, attributes)
            else:
                self._start_child(name)

    def _start_part(self, name: str) -> None:
        """An element below <Envelope>: <Header> first, then <Body>; others may follow."""
        if not self._parts:
            if name != HEADER:
                raise self._fault("Envelope.Header", "the first element is not <Header>")
            self._parts.append("Header")
        elif len(self._parts) == 1:
            if name != BODY:
                raise self._fault("Envelope.Body", "<Body> does not follow <Header>")
            self._parts.append("Body")
        elif name in (HEADER, BODY):
            raise self._fault(_FIELD, "<Header> or <Body> is there twice")

    def _start_entry(self, name: str, attributes: dict[str, str]) -> None:
        shape = ENTRIES.get(name)
        if shape is None:
            # [SOAP1.1] 4.2.3: an entry that must be understood and is not makes the message fail.
            if not self._lenient and attributes.get(MUST_UNDERSTAND, "").strip() == "1":
                raise self._fault(name.rpartition(SEPARATOR)[2], "must be understood and is not")
            self._open.append(None)
            return
        if shape.name in self.entries:
            raise self._fault(shape.name, "is there twice")
        element = Element(shape, self._parser.CurrentByteIndex)
        self.entries[shape.name] = element
        self._open.append(element)

    def _start_child(self, name: str) -> None:
        parent = self._open[-1]
        shape = None if parent is None else parent.shape.children.get(name)
        if parent is None or shape is None:
            self._open.append(None)
            return
        if shape.name in parent.children:
            raise self._fault(f"{parent.shape.name}.{shape.name}", "is there twice")
        element = Element(shape, self._parser.CurrentByteIndex)
        parent.children[shape.name] = element
        self._open.append(element)

    def _text(self, text: str) -> None:
        if self._open:
            element = self._open[-1]
            if element is not None and not element.shape.children:
                element.add_text(text)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._open:
            element = self._open.pop()
            if name == SIGNATURE_ENTRY and element is not None:
                self._keep_signature(element.offset, self._parser.CurrentByteIndex)

    def _keep_signature(self, start: int, last_tag: int) -> None:
        """Keep the bytes of <Signature>; `last_tag` is after it if it is an empty element."""
        raw = self._raw
        first = _TAG.match(raw, start)
        end = raw.index(b">", last_tag) + 1
        if first is not None and raw[first.end() - 2] == _SLASH:
            end = first.end()
        self.signature = raw[start:end]
