"""Every rule of the overview is an alert for Prometheus too, with the same threshold."""

import re
from pathlib import Path

import pytest

from openmsmq.admin import metrics
from openmsmq.admin.pages.attention import DAY_SECONDS, RULES
from openmsmq.admin.settings import ConsoleSettings

TEXT = (Path(metrics.__path__[0]) / "files" / "rules.yml").read_text()
CONSOLE_PAGE = Path(__file__).parents[3] / "docs" / "console.md"
ALERTS = {
    part.partition("\n")[0]: re.findall(r'expr: "(.*)"', part)[0]
    for part in TEXT.split("- alert: ")[1:]
}
NO_RULE = {
    "MsmqNotReady": "every page of the console says that the queue manager does not answer",
    "MsmqTransactionOld": "the page of transactions shows ages; an old one may be meant so",
    "MsmqStoreSlow": "the overview plots the time to disk; by itself it harms no message",
    "MsmqDefinitionsDrift": "the page of definitions shows what differs",
}
SETTINGS = ConsoleSettings(address="/nowhere")


def test_every_rule_has_an_alert_and_every_alert_a_rule_or_a_reason() -> None:
    alerts = [rule.alert for rule in RULES]
    assert sorted([*alerts, *NO_RULE]) == sorted(ALERTS)


def test_the_page_of_the_console_names_the_alert_of_each_rule() -> None:
    rows = re.findall(r"(?m)^\| ([^|]+) \| [^|]+ \| `(Msmq\w+)` \|$", CONSOLE_PAGE.read_text())
    assert sorted(rows) == sorted((rule.name, rule.alert) for rule in RULES)


@pytest.mark.parametrize(
    ("alert", "threshold"),
    [
        ("MsmqNoReader", f"> {SETTINGS.console_unread_seconds:.0f} "),
        ("MsmqQueueGrows", f">= {SETTINGS.console_growth_messages} "),
        ("MsmqMessagesWait", f"> {SETTINGS.console_age_seconds:.0f} "),
        ("MsmqQueueNearQuota", f"> {SETTINGS.console_quota_percent / 100}"),
        ("MsmqDiskLow", f"< {SETTINGS.console_disk_bytes}"),
        ("MsmqNotAcknowledged", f"> {SETTINGS.console_age_seconds:.0f}"),
        ("MsmqJournalGrows", f">= {SETTINGS.console_journal_messages} "),
        ("MsmqCertificateEnds", f"<= {SETTINGS.console_certificate_days * DAY_SECONDS}"),
        ("MsmqClockWrong", f"> {SETTINGS.console_clock_seconds:.0f}"),
        ("MsmqEventLoopSlow", f"> {SETTINGS.console_lag_seconds}"),
        ("MsmqMessagesRefused", f"[{SETTINGS.console_refused_seconds / 60:.0f}m]"),
        ("MsmqConsoleRestarts", f"[{SETTINGS.console_restart_seconds / 3600:.0f}h]"),
    ],
)
def test_an_alert_has_the_default_threshold_of_its_rule(alert: str, threshold: str) -> None:
    assert threshold in ALERTS[alert]
