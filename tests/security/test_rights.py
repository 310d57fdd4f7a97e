"""Access rights in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openmsmq.security.rights import (
    MACHINE_RIGHTS,
    QUEUE_RIGHTS,
    describe_machine_rights,
    describe_queue_rights,
    machine_rights,
    queue_rights,
)
from openmsmq.wire.codes.access_rights import MachineRight, QueueRight
from openmsmq.wire.codes.hresult import Hresult
from openmsmq.wire.codes.queue_error import QueueError


@pytest.mark.parametrize(
    ("words", "mask"),
    [
        (["receive"], QueueRight.RECEIVE_MESSAGE),
        (["peek"], QueueRight.PEEK_MESSAGE),
        (["send"], QueueRight.WRITE_MESSAGE),
        (["write"], QueueRight.WRITE_MESSAGE),
        (["Full"], QueueRight.QUEUE_GENERIC_ALL),
        ([" get-properties "], QueueRight.GET_QUEUE_PROPERTIES),
        (["MQSEC_RECEIVE_MESSAGE"], QueueRight.RECEIVE_MESSAGE),
        (["get_permissions", "send"], QueueRight.GET_QUEUE_PERMISSIONS | QueueRight.WRITE_MESSAGE),
        (["read"], QueueRight.QUEUE_GENERIC_READ),
    ],
)
def test_words_name_the_rights_on_a_queue(words: list[str], mask: int) -> None:
    assert queue_rights(words) == mask


def test_words_name_the_rights_on_the_queue_manager() -> None:
    assert machine_rights(["create-queue"]) == MachineRight.CREATE_QUEUE
    assert machine_rights(["full"]) == MachineRight.MACHINE_GENERIC_ALL


@pytest.mark.parametrize("words", [[], ["recieve"], ["receive", ""]])
def test_a_wrong_word_is_refused_with_the_list_of_words(words: list[str]) -> None:
    with pytest.raises(QueueError, match="receive, receive-journal, peek, send") as caught:
        queue_rights(words)
    assert caught.value.code == Hresult.MQ_ERROR_INVALID_PARAMETER


def test_every_right_has_a_word() -> None:
    for right in QueueRight:
        assert queue_rights(describe_queue_rights(right)) == right
    for machine_right in MachineRight:
        assert machine_rights(describe_machine_rights(machine_right)) == machine_right


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (QueueRight.QUEUE_GENERIC_ALL, ["full"]),
        (QueueRight.RECEIVE_MESSAGE, ["receive"]),
        (QueueRight.PEEK_MESSAGE, ["peek"]),
        (QueueRight.RECEIVE_MESSAGE | QueueRight.WRITE_MESSAGE, ["receive", "send"]),
        (0x00100004, ["send", "0x00100000"]),
        (0, []),
    ],
)
def test_rights_are_described_in_few_words(mask: int, words: list[str]) -> None:
    assert describe_queue_rights(mask) == words


@given(st.sets(st.sampled_from(sorted(QUEUE_RIGHTS)), min_size=1))
def test_the_description_of_queue_rights_names_the_same_rights(words: set[str]) -> None:
    mask = queue_rights(words)
    assert queue_rights(describe_queue_rights(mask)) == mask


@given(st.sets(st.sampled_from(sorted(MACHINE_RIGHTS)), min_size=1))
def test_the_description_of_machine_rights_names_the_same_rights(words: set[str]) -> None:
    mask = machine_rights(words)
    assert machine_rights(describe_machine_rights(mask)) == mask
