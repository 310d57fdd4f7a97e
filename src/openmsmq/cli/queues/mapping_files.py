"""Windows' mapping files: redirections of messages over HTTP in XML, in three forms.

`redirections` has pairs of <from> and <to>, `StreamReceiptSetup` says where stream receipts go, and
`mapping` is the form of Windows XP: the alias of a queue, and its name.
"""

from collections.abc import Callable, Iterator
from typing import Final
from xml.parsers import expat

from openmsmq.wire.errors import ConfigError

MAX_DEPTH: Final = 8
Redirection = tuple[str, str, str]
"""Kind, from and to."""


class Element:
    """An element of a mapping file."""

    __slots__ = ("attributes", "children", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name.rpartition(":")[2]
        self.attributes = attributes
        self.children: list[Element] = []
        self.text = ""

    def value(self, name: str) -> str:
        """The text of a child."""
        for child in self.children:
            if child.name.lower() == name:
                return child.text.strip()
        return ""


def read_mapping_file(data: bytes) -> list[Redirection]:
    """The redirections in a mapping file.

    Raises:
        ConfigError: it is not a mapping file.
    """
    root = _parse(data)
    reader = _READERS.get(root.name.lower())
    if reader is None:
        raise ConfigError(
            f"<{root.name}> is not a mapping file of Windows:"
            " it must be <redirections>, <StreamReceiptSetup> or <mapping>"
        )
    return list(reader(root))


def _parse(data: bytes) -> Element:
    top = Element("", {})
    open_elements = [top]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > MAX_DEPTH:
            raise ConfigError("the mapping file has too many levels")
        element = Element(name, attributes)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end(_name: str) -> None:
        open_elements.pop()

    def text(characters: str) -> None:
        open_elements[-1].text += characters

    def refuse(*_arguments: object) -> None:
        raise ConfigError("the mapping file has a document type, which is not read")

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as exc:
        raise ConfigError(f"the mapping file is not XML: {exc}") from exc
    return top.children[0]


def _redirections(root: Element) -> Iterator[Redirection]:
    for child in root.children:
        yield "inbound", child.value("from"), child.value("to")


def _stream_receipts(root: Element) -> Iterator[Redirection]:
    for child in root.children:
        if child.children:
            source, target = (child.children[at].text.strip() for at in (0, -1))
            yield "receipts", source, target
        else:
            yield "receipts", "*", child.text.strip()


def _mapping(root: Element) -> Iterator[Redirection]:
    host = root.attributes.get("host", "localhost")
    for child in root.children:
        name = child.value("name").replace("\\", "/").lstrip("/")
        target = name if "://" in name else f"http://{host}/msmq/{name}"
        yield "inbound", child.value("alias"), target


_READERS: Final[dict[str, Callable[[Element], Iterator[Redirection]]]] = {
    "redirections": _redirections,
    "streamreceiptsetup": _stream_receipts,
    "mapping": _mapping,
}
