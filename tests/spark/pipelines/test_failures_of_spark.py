"""Failures that are Spark's own."""

import pickle

import pytest

from openmsmq.spark.pipelines.replay.filter import ReplayFilter
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.failures import explain


def test_a_machine_that_is_too_busy_is_the_cause_of_missing_workers() -> None:
    error = explain(
        "[STREAM_FAILED] Query [id = 1] terminated: Python worker failed to connect back"
    )
    assert "busy" in error.cause
    assert error.remedy.startswith("Run the pipeline again")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `x`", "names a column"),
        ("[PARSE_SYNTAX_ERROR] Syntax error at or near", "no expression of SQL"),
    ],
)
def test_wrong_conditions_are_told_as_such(text: str, cause: str) -> None:
    assert cause in explain(text).cause


def test_what_cannot_be_reached_has_its_own_code() -> None:
    error = explain("openmsmq.client.errors.ConnectionLost: no queue manager answers at /x")
    assert error.name == "MQ_ERROR_SERVICE_NOT_AVAILABLE"
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (copy.code, copy.cause, copy.remedy) == (error.code, error.cause, error.remedy)


@pytest.mark.parametrize("moment", ["yesterday", "2026-13-01", ""])
@pytest.mark.usefixtures("spark")  # Spark makes no column without a session
def test_a_time_that_is_none_is_refused(moment: str) -> None:
    with pytest.raises(PipelineError, match="is neither a time such as"):
        ReplayFilter(since=moment).condition()
