"""The catalogue of result codes."""

import pytest

from openmsmq.wire.codes.hresult import CUSTOMER_BIT, Hresult
from openmsmq.wire.codes.hresult_catalogue import CATALOGUE, explain


def test_every_code_is_explained_once() -> None:
    assert set(CATALOGUE) == set(Hresult)


@pytest.mark.parametrize("code", list(Hresult))
def test_text_cause_and_remedy_are_sentences(code: Hresult) -> None:
    entry = CATALOGUE[code]
    for sentence in (entry.text, entry.cause, entry.remedy):
        assert sentence[0].isupper() or sentence[0] == "`"
        assert sentence.endswith(".")
        assert len(sentence) <= 100


def test_no_two_codes_have_the_same_text() -> None:
    assert len({entry.text for entry in CATALOGUE.values()}) == len(CATALOGUE)


def test_a_number_finds_its_entry() -> None:
    assert explain(0xC00E001B) is CATALOGUE[Hresult.MQ_ERROR_IO_TIMEOUT]


def test_a_code_that_is_not_published_is_explained_by_its_customer_bit() -> None:
    assert "private" in explain(0xC00E0003 | CUSTOMER_BIT).text
    assert "does not belong to Message Queuing" in explain(0x800706BA).text
