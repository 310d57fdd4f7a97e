"""The reference of the HTTP API."""

from tools.api_http_page import PAGE, page_with, reference


def test_the_reference_is_that_of_the_table() -> None:
    assert PAGE.read_text("utf-8") == page_with(reference()), "run python -m tools.api_http_page"
