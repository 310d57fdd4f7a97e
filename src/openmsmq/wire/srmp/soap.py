"""SOAP header and body that an application gives: they go into the envelope of its message."""

from openmsmq.wire.errors import MalformedPacket

from .document import Document
from .elements import SOAP


def check_soap(header: str, body: str) -> None:
    """Check that both are XML which leaves the envelope around it as it is.

    Args:
        header: elements for <Header>, which must not be those of SRMP.
        body: what goes into <Body>.

    Raises:
        ValueError: one is not; the text says why.
    """
    text = (
        f'<se:Envelope xmlns:se="{SOAP}"><se:Header>{header}</se:Header>'
        f"<se:Body>{body}</se:Body></se:Envelope>"
    )
    try:
        # Half of a surrogate pair has no UTF-8, and no XML may hold it.
        document = Document(text.encode("utf-8", "replace"), lenient=True)
    except MalformedPacket as exc:
        raise ValueError(f"the SOAP header or body is not XML: {exc.reason}") from exc
    if document.entries:
        names = ", ".join(f"<{name}>" for name in document.entries)
        raise ValueError(f"a SOAP header cannot hold {names}, which the queue manager writes")
