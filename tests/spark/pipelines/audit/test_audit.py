"""The audit of tables."""

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.pipelines.audit_case import CASES, EVIDENCE, EXPECTED, LOST, NOW, SENDS
from tests.spark.pipelines.rows import ADMIN, SENDER, acknowledgment, frame, message
from tests.spark.pipelines.zones import NEW_YORK, machine_in

from openmsmq.spark.pipelines.audit import auditing as module
from openmsmq.spark.pipelines.audit.auditing import AuditResult, audit, audit_messages
from openmsmq.spark.pipelines.audit.verdict import FAILED, State
from openmsmq.spark.pipelines.support.errors import PipelineError
from openmsmq.wire.codes.message_class import MessageClass

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def result(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> AuditResult:
    # Acknowledgments among the sends are none, and a row may be there twice.
    sends = frame(spark, [*SENDS, SENDS[0], acknowledgment(1, MessageClass.ACK_RECEIVE)])
    by_queue = [row for row in EVIDENCE if row["queue"] == ADMIN]
    others = [row for row in EVIDENCE if row["queue"] != ADMIN]
    evidence = [frame(spark, by_queue), frame(spark, others)]
    with machine_in(NEW_YORK):
        return audit(sends, evidence, now=NOW, output=tmp_path_factory.mktemp("audit"))


def test_every_send_is_in_the_state_that_the_evidence_shows(
    spark: "SparkSession", result: AuditResult
) -> None:
    rows = spark.read.parquet(dict(result.summary.outputs)["Table messages"]).collect()
    states = {row["message_id"]: row["state"] for row in rows}
    wrong = {
        name: (states[sent["id"]], str(state))
        for name, (sent, _, state) in CASES.items()
        if states[sent["id"]] != state
    }
    assert not wrong
    assert len(rows) == len(EXPECTED)
    assert {row["message_id"] for row in rows if row["lost"]} == LOST
    reasons = {row["message_id"]: row["reason"] for row in rows}
    assert "(MQMSG_CLASS_NACK_BAD_DST_Q)" in reasons[rf"{SENDER}\9"]
    assert reasons[rf"{SENDER}\13"].startswith("it arrived, but ")


def test_the_numbers_add_up(result: AuditResult) -> None:
    assert result.sends == len(SENDS) == sum(result.counts.values())
    assert set(result.counts) == set(State)
    assert (result.lost, result.repeated) == (1, 1)
    for table in result.summary.tables:
        if table.name not in ("states", "destinations"):
            continue
        names = [column.name for column in table.columns]
        assert table.sums()[names.index("messages")] == result.sends
    first = next(result.summary.objects())
    assert first["sends"] == sum(
        first[name] for name in ("read", "arrived_unread", "failed", "in_doubt", "no_evidence")
    )
    json.dumps(first)


def test_what_has_no_evidence_is_lost_only_if_success_was_to_be_reported(
    result: AuditResult,
) -> None:
    told = " ".join(result.summary.warnings)
    assert "1 message is lost: " in told
    assert dict(_titles(result))["lost"] == "Lost (no evidence, time is over)"
    assert f"{result.counts[State.NO_EVIDENCE] - 1} messages asked for no acknowledgment" in told


def _titles(result: AuditResult) -> list[tuple[str, str]]:
    return [(column.name, column.title) for column, _ in result.summary.facts]


def test_messages_that_need_attention_are_named_one_by_one(
    spark: "SparkSession", result: AuditResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row for row in result.summary.objects() if row.get("table") == "attention"]
    needy = sum(result.counts[state] for state in FAILED) + result.lost
    assert len(rows) == needy
    assert result.summary.headline.endswith(f"; {needy} need attention.")
    (missing,) = [row for row in rows if row["message_id"] == rf"{SENDER}\9"]
    assert "(MQMSG_CLASS_NACK_BAD_DST_Q)" in missing["reason"]
    assert missing["state"] == State.REJECTED
    assert {row["message_id"] for row in rows} >= LOST
    monkeypatch.setattr(module, "SHOWN_MESSAGES", 2)
    summary, _, _ = module.summarize(result.verdicts)
    (table,) = [table for table in summary.tables if table.name == "attention"]
    assert [row[0] for row in table.rows] == [row["message_id"] for row in rows[:2]]
    assert table.note == f"The first 2 of {needy}; the table messages has all."


def test_the_report_is_beside_the_table(result: AuditResult) -> None:
    text = Path(dict(result.summary.outputs)["Report"]).read_text(encoding="utf-8")
    assert result.summary.headline in text
    for state in State:
        assert f">{state}<" in text


def test_before_its_time_is_up_a_message_is_in_doubt_and_not_lost(spark: "SparkSession") -> None:
    asked = {"acknowledge": 1, "time_to_reach_queue": 60}
    late = message(1, **asked)
    # Its time is up a second later.
    early = message(2, **asked) | {"sent_time": late["sent_time"] + timedelta(seconds=1)}
    now = late["sent_time"] + timedelta(seconds=60)
    verdicts = audit_messages(frame(spark, [late, early]), [frame(spark, [])], now)
    found = {row["message_id"]: (row["state"], row["lost"]) for row in verdicts.collect()}
    assert found == {late["id"]: (State.NO_EVIDENCE, True), early["id"]: (State.IN_DOUBT, False)}


def test_nothing_sent_is_no_error(spark: "SparkSession") -> None:
    outcome = audit(frame(spark, []), [frame(spark, [])], now=NOW)
    assert outcome.sends == 0
    assert outcome.summary.headline == "No sent messages were found."


def test_rows_without_the_columns_are_refused_by_name(spark: "SparkSession") -> None:
    few = frame(spark, SENDS).drop("acknowledge")
    with pytest.raises(PipelineError, match="no column acknowledge"):
        audit(few, [frame(spark, [])], now=NOW)
