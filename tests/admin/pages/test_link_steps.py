"""The history of a link."""

from typing import Any

from openmsmq.admin.pages.link_pages import link_steps


def step(status: str, time: str, *addresses: str) -> dict[str, Any]:
    return {"status": status, "time": time, "addresses": list(addresses)}


def test_attempts_that_end_alike_are_one_step() -> None:
    failed = [step("CONNECT_FAILED", time, "10.0.0.9") for time in ("30", "25", "20")]
    steps = link_steps([*failed, step("READY", "10", "10.0.0.9"), step("READY", "05", "10.0.0.8")])
    assert [(each.status, each.times) for each in steps] == [
        ("CONNECT_FAILED", 3),
        ("READY", 1),
        ("READY", 1),
    ]
    assert (steps[0].time, steps[0].since) == ("30", "20")
