"""Outgoing queues in the words of the console."""

from openmsmq.admin.api.outgoing import step_words


def test_a_step_is_told_by_its_reason_else_by_its_status() -> None:
    step = {"status": "CERTIFICATE_VALIDATION_FAILURE", "reason": ""}
    assert step_words(step) == "The certificate is not trusted"
    assert step_words({**step, "reason": "it has expired"}) == "it has expired"
    assert step_words({"status": "SOMETHING_NEW", "reason": ""}) == "Something new"
