"""The site of the documentation: its order, and that no page is missing."""

from tools import docs


def test_the_order_is_that_of_the_first_page() -> None:
    index = "| page | about |\n| [Names](names.md) | x |\n| [Codes](codes.md#a) | y |\n"
    assert list(docs.navigation(index + "| [Bodies](bodies.md) | z |\n")) == [
        {"Home": "README.md"},
        {"Names": "names.md"},
        {"Bodies": "bodies.md"},
    ]


def test_every_page_is_in_the_navigation() -> None:
    listed = {page for entry in docs.configuration()["nav"] for page in entry.values()}
    assert listed >= {page.name for page in docs.DOCS.glob("*.md")}
