"""The page of the Python API."""

from tools.api_page import PAGE, SECTIONS, page

import openmsmq
from openmsmq import aio, client


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tools.api_page"


def test_the_page_has_every_public_name() -> None:
    shown = {member.__name__ for members in SECTIONS.values() for member in members}
    assert {*openmsmq.__all__, *client.__all__} - {"__version__", "aio"} <= shown
    assert all(f"`{name}`" in page() for name in aio.__all__)


def test_methods_have_their_signature_arguments_and_errors() -> None:
    text = page()
    assert "receive(\n    timeout: float | None = None,\n    transaction:" in text
    assert "- `timeout`: seconds to wait; None for ever.\n" in text
    assert "- `ReceiveTimeout`: none came in time.\n" in text
