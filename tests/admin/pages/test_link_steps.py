"""The history of a link."""

from typing import Any

from openmsmq.admin.pages.link_pages import link_steps


def step(status: str, time: str, *addresses: str, reason: str = "") -> dict[str, Any]:
    return {"status": status, "time": time, "addresses": list(addresses), "reason": reason}


def test_attempts_that_end_alike_are_one_step() -> None:
    failed = [step("CONNECT_FAILED", time, "10.0.0.9") for time in ("30", "25", "20")]
    steps = link_steps([*failed, step("READY", "10", "10.0.0.9"), step("READY", "05", "10.0.0.8")])
    assert [(each.status, each.times) for each in steps] == [
        ("CONNECT_FAILED", 3),
        ("READY", 1),
        ("READY", 1),
    ]
    assert (steps[0].time, steps[0].since) == ("30", "20")


def test_attempts_that_fail_for_another_reason_are_steps_of_their_own() -> None:
    refused = "REFUSED_BY_OTHER_SIDE"
    steps = link_steps(
        [
            step(refused, "30", reason="beta answered with HTTP status 503"),
            step(refused, "10", reason="beta answered with HTTP status 500"),
        ]
    )
    assert [each.words[-3:] for each in steps] == ["503", "500"]
