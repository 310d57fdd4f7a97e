"""Failures that are Spark's own."""

from openmsmq.spark.pipelines.failures import explain


def test_a_machine_that_is_too_busy_is_the_cause_of_missing_workers() -> None:
    error = explain(
        "[STREAM_FAILED] Query [id = 1] terminated: Python worker failed to connect back"
    )
    assert "busy" in error.cause
    assert error.remedy.startswith("Run the pipeline again")
