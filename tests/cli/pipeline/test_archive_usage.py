"""`openmsmq pipeline archive`: what is refused before Spark starts."""

import pytest
from tests.cli.runner import run


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--queue", "a", "--consume", "lease"), "go together"),
        (("--queue", "a", "--consumer-name", "me"), "go together"),
        (("--queue", "a", "--pattern", "b*"), "exclude each other"),
    ],
)
def test_options_that_do_not_fit_are_wrong_usage(arguments: tuple[str, ...], problem: str) -> None:
    outcome = run("pipeline", "archive", "folder", *arguments)
    assert outcome.code == 2
    assert problem in outcome.err
