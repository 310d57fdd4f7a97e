"""The page of codes."""

from tools.codes_page import PAGE, page

from openmsmq.wire.codes.hresult import Hresult


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tools.codes_page"


def test_the_page_has_every_result_code() -> None:
    text = page()
    assert all(f"| 0x{code:08X} | {code.name} |" in text for code in Hresult)
