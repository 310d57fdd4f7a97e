"""What Spark reports is told as what it was."""

import pickle

import pytest

from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.spark.pipelines.support.failures import explain, explained
from openmsmq.wire.codes.hresult import Hresult

TRACE = """[PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR] Failed when Python perform initialOffset:
Traceback (most recent call last):
  File "/lib/openmsmq/spark/stream_driver.py", line 76, in initial
openmsmq.wire.codes.queue_error.QueueError: MQ_ERROR_ACCESS_DENIED: first

The above exception was the direct cause of the following exception:

{last}
 SQLSTATE: 38000
"""


def test_a_refusal_of_the_queue_manager_keeps_its_code() -> None:
    last = (
        "openmsmq.wire.codes.queue_error.QueueError: MQ_ERROR_QUEUE_NOT_FOUND: there is no orders"
    )
    error = explain(TRACE.format(last=last))
    assert (error.code, error.detail) == (Hresult.MQ_ERROR_QUEUE_NOT_FOUND, "there is no orders")


@pytest.mark.parametrize(
    ("last", "detail", "cause"),
    [
        (
            "openmsmq.wire.errors.ConfigError: option kind: is wrong",
            "option kind: is wrong",
            "option",
        ),
        ("openmsmq.spark.errors.DataLoss: 3 are gone", "3 are gone", "Planned messages"),
        ("openmsmq.client.errors.ConnectionLost: nobody", "nobody", "does not answer"),
        ("openmsmq.client.errors.ReceiveTimeout: late", "late", "has refused"),
    ],
)
def test_our_errors_have_a_cause(last: str, detail: str, cause: str) -> None:
    error = explain(TRACE.format(last=last))
    assert error.detail == detail
    assert cause in error.cause
    assert error.remedy


def test_other_errors_are_told_by_their_first_line() -> None:
    assert explain("[DISK_FULL] There is no room.\n\tat java").detail == (
        "[DISK_FULL] There is no room."
    )


def test_an_error_in_the_jvm_is_told_without_its_wrapping() -> None:
    text = (
        "An error occurred while calling o36.parquet.\n"
        ": org.apache.spark.SparkException: [FAILED_READ_FILE] Not a file of Parquet.\n\tat java"
    )
    assert explain(text).detail == "[FAILED_READ_FILE] Not a file of Parquet."


def test_an_error_in_a_python_process_of_spark_is_told_by_its_last_line() -> None:
    text = (
        "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
        '  File "x.py", line 1, in y\nValueError: first\n\nDuring handling, another:\n\n'
        "TypeError: a column of text\n"
    )
    assert explain(text).detail == "a column of text"


def test_a_spark_that_does_not_start_is_explained() -> None:
    text = "[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number."
    assert "there is no such master" in explain(text).cause


@pytest.mark.parametrize(
    "error", [NotADirectoryError(20, "Not a directory", "/etc/passwd/x"), OSError("no room")]
)
def test_files_that_cannot_be_used_are_told(error: OSError) -> None:
    with pytest.raises(PipelineError) as caught, explained():
        raise error
    assert caught.value.detail == str(error)
    assert "file or folder" in caught.value.cause


@pytest.mark.parametrize("error", [BrokenPipeError(), ValueError("a fault of ours")])
def test_other_errors_stay_what_they_are(error: Exception) -> None:
    with pytest.raises(type(error)), explained():
        raise error


def test_an_error_of_py4j_is_explained() -> None:
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # has no types

    with pytest.raises(PipelineError, match="no answer"), explained():
        raise Py4JError("no answer")


def test_an_error_of_spark_is_explained() -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PipelineError, match="no room") as caught, explained():
        raise PySparkException("There is no room.")
    assert isinstance(caught.value.__cause__, PySparkException)


def test_a_pipeline_error_survives_pickling() -> None:
    error = PipelineError("what", cause="why.", remedy="do it.")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (again.detail, again.cause, again.remedy) == ("what", "why.", "do it.")
    assert str(again) == "what. why. do it."
