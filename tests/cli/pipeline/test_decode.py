"""`openmsmq pipeline decode`, as far as it goes without Spark."""

from tests.cli.runner import run

from openmsmq.cli.pipeline.decode import BodyFormat
from openmsmq.spark.columns import BODY_FORMATS


def test_every_format_of_bodies_can_be_asked_for_and_no_other() -> None:
    assert [str(each) for each in BodyFormat] == list(BODY_FORMATS)
    outcome = run("pipeline", "decode", "file", "--body-format", "yaml")
    assert outcome.code == 2
    assert "'yaml' is not one of" in outcome.err
