"""Health checks of a queue manager: the same for `/readyz` and `openmsmq health`."""

from dataclasses import dataclass
from typing import Any, Final

READY: Final = "ready"


@dataclass(frozen=True, slots=True)
class Check:
    """One condition of health.

    Attributes:
        name: its name for programs.
        detail: the fault, for users; empty if there is none.
    """

    name: str
    detail: str = ""

    @property
    def passed(self) -> bool:
        return not self.detail


def no_answer(reason: str) -> list[Check]:
    """The checks of a queue manager that does not answer."""
    return [Check("answers", reason or "the queue manager does not answer")]


def ready_checks(status: dict[str, Any]) -> list[Check]:
    """Whether it is ready, takes messages and listens, from its `status`."""
    state = status["state"]
    faults = {name: text for name, text in status["faults"].items() if name != "console"}
    listening = "; ".join(f"{name}: {text}" for name, text in faults.items())
    if not status["endpoints"]:
        listening = "nothing listens"
    return [
        Check("answers"),
        Check("ready", "" if state.lower() == READY else f"the queue manager is {state}"),
        Check("takes-messages", _refuses_messages(status)),
        Check("listens", listening),
    ]


def _refuses_messages(status: dict[str, Any]) -> str:
    """Why new messages are refused; empty if they are not."""
    if status["throttled"]:
        return "new messages are refused: the disk is full"
    if status["quota_used_up"]:
        return "new messages are refused: quota_kilobytes is used up"
    return ""
