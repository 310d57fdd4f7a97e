"""The kind of a text for the inference of schemas: an XML document, JSON or neither.

XML is only scanned here, and combined for Spark's own functions.
"""

import json
from dataclasses import dataclass
from typing import Final
from xml.parsers import expat

XML: Final = "xml"
JSON: Final = "json"
TEXT: Final = "text"
# What root elements are called when several documents are put together.
ROW: Final = "row"
_NAMESPACE: Final = "xmlns"


@dataclass(frozen=True, slots=True)
class Document:
    """A text that has a structure.

    Attributes:
        format: "xml", "json" or "text".
        root: local name of the root element of XML.
        part: what stands for the text when several are put together.
        namespaces: attributes that Spark sees, but that only declare namespaces.
    """

    format: str
    root: str | None = None
    part: str = ""
    namespaces: frozenset[str] = frozenset()


NO_DOCUMENT: Final = Document(TEXT)


def read_document(text: str) -> Document:
    """Find out what a text is."""
    start = text.lstrip()[:1]
    if start == "<":
        return _read_xml(text)
    if start in ("{", "["):
        return _read_json(text)
    return NO_DOCUMENT


def joined(documents: list[Document]) -> str:
    """One text that holds documents of one format, which has to be parsed as if each came alone."""
    if documents[0].format == JSON:
        return f"[{','.join(document.part for document in documents)}]"
    # Spark makes an array of an element that is there twice.
    twice = documents * 2 if len(documents) == 1 else documents
    return f"<{ROW}s>{''.join(document.part for document in twice)}</{ROW}s>"


def _read_json(text: str) -> Document:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return NO_DOCUMENT
    return Document(JSON, part=text)


class _Root:
    """Collects what the root element says about itself."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.StartDoctypeDeclHandler = _refuse_doctype
        self.name = ""
        self.position = 0
        self.attributes: dict[str, str] = {}

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.name, self.attributes = name, attributes
        self.position = self.parser.CurrentByteIndex
        self.parser.StartElementHandler = None


# Entities are defined in a DTD: without one, none can grow or lead elsewhere.
def _refuse_doctype(*_: object) -> None:
    raise ValueError("a DTD")


def _read_xml(text: str) -> Document:
    raw = text.encode("utf-8", "replace").lstrip()
    root = _Root()
    try:
        root.parser.Parse(raw, True)
    except (expat.ExpatError, ValueError):
        return NO_DOCUMENT
    name = root.name.encode()
    after_name = root.position + 1 + len(name)
    end = raw.rfind(b"</" + name, after_name)
    closing = f"</{ROW}>" if end >= 0 else ""
    inside = raw[after_name : end if end >= 0 else len(raw)].decode()
    local = root.name.rpartition(":")[2]
    return Document(XML, local, f"<{ROW}{inside}{closing}", _namespaces(root.attributes))


def _namespaces(attributes: dict[str, str]) -> frozenset[str]:
    """Local names of attributes that only declare namespaces."""
    parts = {name: name.rpartition(":") for name in attributes}
    declaring = {
        local for name, (prefix, _, local) in parts.items() if _NAMESPACE in (prefix, name)
    }
    others = {
        local for name, (prefix, _, local) in parts.items() if _NAMESPACE not in (prefix, name)
    }
    return frozenset(declaring - others)
