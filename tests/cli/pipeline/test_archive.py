"""`openmsmq pipeline archive`, as far as it goes without Spark."""

from tests.cli.runner import run


def test_an_archive_of_nothing_is_wrong_usage() -> None:
    outcome = run("pipeline", "archive", "folder")
    assert outcome.code == 2
    assert "--queue NAME" in outcome.err
