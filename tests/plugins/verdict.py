"""What our plugins share: who has the last word, and how it becomes a failure.

A failure is an error in the summary, in pytest's closing line and in its exit code.
"""

import pytest


def is_worker(config: pytest.Config) -> bool:
    """Tell a worker of a distributed run, which summarises too, but to nobody."""
    return hasattr(config, "workerinput")


def fail_session(
    session: pytest.Session, reporter: pytest.TerminalReporter, title: str, reason: str
) -> None:
    """Count one error more. Call it from `pytest_terminal_summary`."""
    report = pytest.CollectReport(title, "failed", reason, None)
    reporter.stats.setdefault("error", []).append(report)
    if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
