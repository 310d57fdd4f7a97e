"""The retry policy of a queue among its attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from openmsmq.core.model.retry_policy import (
    MAX_CYCLE_DELAY,
    MAX_RETRY_COUNT,
    POLICY_ATTRIBUTES,
    ReceiveErrorHandling,
    RetryPolicy,
)
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

from .value_text import value_text

_LARGEST: Final = {
    "receive_retry_count": MAX_RETRY_COUNT,
    "retry_cycle_delay": MAX_CYCLE_DELAY,
    "max_retry_cycles": MAX_RETRY_COUNT,
}


def take_policy(
    policy: RetryPolicy, attributes: Mapping[str, Any]
) -> tuple[RetryPolicy, dict[str, Any]]:
    """The policy with the changed attributes applied, and the other attributes.

    Raises:
        QueueError: MQ_ERROR_ILLEGAL_PROPERTY_VALUE.
    """
    changes = {
        name: _checked(name, value)
        for name, value in attributes.items()
        if name in POLICY_ATTRIBUTES
    }
    others = {name: value for name, value in attributes.items() if name not in changes}
    return (replace(policy, **changes) if changes else policy), others


def _checked(name: str, value: object) -> Any:
    largest = _LARGEST.get(name)
    if largest is None:
        if isinstance(value, str) and value in set(ReceiveErrorHandling):
            return ReceiveErrorHandling(value)
        wanted = f"one of {', '.join(ReceiveErrorHandling)}"
    else:
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= largest:
            return value
        wanted = f"a number from 0 to {largest}"
    raise QueueError(
        Hresult.MQ_ERROR_ILLEGAL_PROPERTY_VALUE, f"{name}: {value_text(value)} is not {wanted}"
    )
