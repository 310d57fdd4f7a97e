"""Acting for somebody else."""

import pytest

import openmsmq
from openmsmq.wire.errors import ConfigError


def test_the_rights_of_the_other_count(msmq: openmsmq.QueueManager) -> None:
    queue = msmq.create_queue(r".\private$\orders")
    queue.send_and_wait("secret")
    with openmsmq.connect(msmq.address, act_for="uid:54321") as other:
        assert other.identity.sid == "S-1-22-1-54321"
        with pytest.raises(openmsmq.AccessDenied):
            other.open_queue(r".\private$\orders", "receive").receive(timeout=0)
        with pytest.raises(openmsmq.AccessDenied):
            openmsmq.connect(msmq.address, act_for="uid:54321").backup("/tmp/other")  # noqa: S108


def test_nobody_is_told_of_as_such(msmq: openmsmq.QueueManager) -> None:
    with pytest.raises(openmsmq.QueueError, match="nonsense"):
        openmsmq.connect(msmq.address, act_for="nonsense")


def test_remote_read_knows_no_acting() -> None:
    with pytest.raises(ConfigError, match="act_for"):
        openmsmq.connect("msmq://127.0.0.1", act_for="uid:1")


def test_an_empty_principal_does_not_give_the_rights_of_the_caller(
    msmq: openmsmq.QueueManager,
) -> None:
    with pytest.raises(ConfigError, match="act_for"):
        openmsmq.connect(msmq.address, act_for="")
