"""Bodies as pages show them."""

import json

import pytest

from openmsmq.admin.pages.bodies import LONGEST_LINE, PART, body_view

LONG = "x" * (LONGEST_LINE + 1)


def test_a_short_body_is_shown_whole() -> None:
    for body in (b'{"a": 1}', b"<a><b>1</b></a>", b"text"):
        assert body_view(body, 0).more == ""


@pytest.mark.parametrize("body", [json.dumps({"a": LONG}), f"<a>{LONG}</a>"])
def test_a_line_that_is_cut_says_so(body: str) -> None:
    view = body_view(body.encode(), 0)
    assert "Text has all of it" in view.more
    assert any("x…" in line for line in view.lines)
    assert LONG in "".join(body_view(body.encode(), 0, "text").lines)


def test_xml_that_is_shown_in_part_says_so() -> None:
    item = "<b>" + "y" * 1000 + "</b>\n"
    body = f"<a>{item * (PART // len(item) + 10)}</a>"
    assert body_view(body.encode(), 0).more == (
        f"The first {PART:,} characters are shown; Text has all of it."
    )
    # A text of a known type is decoded whole.
    assert "characters are shown" in body_view(body.encode("utf-16-le"), 8).more
