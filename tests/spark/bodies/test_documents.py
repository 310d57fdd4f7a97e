import pytest

from openmsmq.spark.bodies.documents import NO_DOCUMENT, Document, joined, read_document


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<Order/>", Document("xml", "Order", "<row/>")),
        (
            "<a:Order xmlns:a='x'>1</a:Order> <!-- end -->",
            Document("xml", "Order", "<row xmlns:a='x'>1</row>", frozenset({"a"})),
        ),
        (
            "<?xml version='1.0' encoding='utf-16'?>\n<Ä><Ä>é</Ä></Ä>",
            Document("xml", "Ä", "<row><Ä>é</Ä></row>"),
        ),
        (
            "<a xmlns='x' xmlns:type='y' type='z'/>",
            Document("xml", "a", "<row xmlns='x' xmlns:type='y' type='z'/>", frozenset({"xmlns"})),
        ),
        (' {"a": 1}', Document("json", part=' {"a": 1}')),
        ("[1]", Document("json", part="[1]")),
    ],
)
def test_documents_are_told_by_what_they_are(text: str, expected: Document) -> None:
    assert read_document(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        "<a>",
        "<a></b>",
        "<a>&undefined;</a>",
        "<!DOCTYPE a [<!ENTITY e 'text'>]><a>&e;</a>",
        "{",
        "{a: 1}",
        "[" * 100_000,
    ],
)
def test_other_texts_are_no_documents(text: str) -> None:
    assert read_document(text) == NO_DOCUMENT


def test_documents_are_put_together_as_one() -> None:
    one, two = read_document("<a>1</a>"), read_document("<b/>")
    assert joined([one, two]) == "<rows><row>1</row><row/></rows>"
    assert joined([read_document("[1]"), read_document("{}")]) == "[[1],{}]"


def test_a_document_alone_is_there_twice_so_that_it_is_an_array() -> None:
    assert joined([read_document("<a/>")]) == "<rows><row/><row/></rows>"
