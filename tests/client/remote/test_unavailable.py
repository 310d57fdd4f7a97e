"""What only a queue manager can do, asked of a server that is read over RPC."""

import inspect

import pytest

from openmsmq.client.remote.unavailable import UnavailableManagement
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError

OPERATIONS = [name for name in vars(UnavailableManagement) if not name.startswith("_")]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_is_refused_with_a_reason(name: str) -> None:
    operation = getattr(UnavailableManagement("msmq://server"), name)
    arguments = inspect.signature(operation).parameters.values()
    values = [None for each in arguments if each.kind is each.POSITIONAL_OR_KEYWORD]
    named = {each.name: None for each in arguments if each.kind is each.KEYWORD_ONLY}
    with pytest.raises(QueueError, match=r"msmq://server: .* over remote read") as caught:
        operation(*values, **named)
    assert caught.value.code == Hresult.MQ_ERROR_UNSUPPORTED_OPERATION
