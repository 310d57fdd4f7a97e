"""A server in a script: what each step of a client must be, and what it brings."""

from collections.abc import Sequence
from typing import Any, TypeVar

from openmsmq.protocol.remote_read.client import Connect, HangUp, Invoke, Step, Steps

T = TypeVar("T")
# What a step has to be: a port to connect to, the name of a call, or a connection to close.
Expected = int | str | HangUp


def run(steps: Steps[T], script: Sequence[tuple[Expected, Any]]) -> T:
    """Go through all steps of a client by a script."""
    left = list(script)
    value: Any = None
    try:
        while True:
            step = steps.throw(value) if isinstance(value, Exception) else steps.send(value)
            assert left, f"one step more than the script has: {step}"
            expected, value = left.pop(0)
            assert shown(step) == expected
    except StopIteration as end:
        assert not left, f"steps that did not come: {left}"
        result: T = end.value
        return result


def shown(step: Step) -> Expected:
    if isinstance(step, Connect):
        return step.port
    return step.call.name if isinstance(step, Invoke) else step
