"""Errors that carry a result code."""

import pickle

import pytest

from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.hresult_catalogue import CATALOGUE
from openmsmq.wire.codes.queue_error import AccessDenied, QueueError
from openmsmq.wire.errors import ConfigError, ExplainedError, MsmqError, StoreError


def test_a_queue_error_explains_its_code() -> None:
    error = QueueError(Hresult.MQ_ERROR_QUEUE_NOT_FOUND, r"no queue .\private$\orders")
    entry = CATALOGUE[Hresult.MQ_ERROR_QUEUE_NOT_FOUND]
    assert isinstance(error, MsmqError)
    assert (error.code, error.name) == (0xC00E0003, "MQ_ERROR_QUEUE_NOT_FOUND")
    assert (error.text, error.cause, error.remedy) == (entry.text, entry.cause, entry.remedy)
    assert str(error) == r"MQ_ERROR_QUEUE_NOT_FOUND: no queue .\private$\orders"


def test_without_detail_the_text_of_the_code_speaks() -> None:
    error = QueueError(Hresult.MQ_ERROR_IO_TIMEOUT)
    assert str(error) == "MQ_ERROR_IO_TIMEOUT: No message came within the time given."


def test_who_knows_more_than_the_catalogue_says_so() -> None:
    known = AccessDenied("no", cause="The token was changed.", remedy="Ask for another.")
    assert (known.cause, known.remedy) == ("The token was changed.", "Ask for another.")
    copy = pickle.loads(pickle.dumps(known))  # noqa: S301 -- our own bytes
    assert (copy.cause, copy.remedy) == (known.cause, known.remedy)


@pytest.mark.parametrize("kind", [StoreError, ConfigError])
def test_a_remedy_is_part_of_the_text_and_can_be_told_apart(kind: type[ExplainedError]) -> None:
    assert str(kind("the disk is full")) == "the disk is full"
    error = kind("the disk is full", cause="It is small.", remedy="Free space.")
    assert str(error) == "the disk is full. Free space."
    assert (error.detail, error.cause, error.remedy) == (
        "the disk is full",
        "It is small.",
        "Free space.",
    )


def test_a_code_of_another_layer_is_kept() -> None:
    error = QueueError(0x800706BA, "connection refused")
    assert (error.code, error.name) == (0x800706BA, "0x800706BA")
    assert str(error) == "0x800706BA: connection refused"


def test_access_denied_has_its_code() -> None:
    error = AccessDenied("may not write")
    assert isinstance(error, QueueError)
    assert error.code == Hresult.MQ_ERROR_ACCESS_DENIED
    assert str(error) == "MQ_ERROR_ACCESS_DENIED: may not write"


@pytest.mark.parametrize(
    "error", [QueueError(Hresult.MQ_ERROR_QUEUE_DELETED, "gone"), AccessDenied("may not write")]
)
def test_an_error_survives_pickling(error: QueueError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own bytes
    assert type(copy) is type(error)
    assert (copy.code, copy.detail) == (error.code, error.detail)
