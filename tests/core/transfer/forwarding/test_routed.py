"""Messages that wait here for their next hop."""

import pytest
from tests.core.harness import OTHER_GUID, SEND, Harness, packet

from openmsmq.core.transfer.forwarding.routed import store
from openmsmq.wire.message.user_message import UserMessage
from openmsmq.wire.message.user_message_run import UserMessageRun

ADDRESS = "10.0.0.9"
REMOTE = r"DIRECT=OS:elsewhere\private$\q"


@pytest.mark.parametrize(
    ("fitting", "less", "count"), [(3, 0, 3), (3, 1, 2), (2, 0, 2), (2, 1, 1), (1, 1, 0)]
)
def test_as_many_messages_are_kept_as_there_is_room_for(
    harness: Harness, fitting: int, less: int, count: int
) -> None:
    harness.qm.close_queue(harness.open(SEND, REMOTE))
    queue = harness.qm.outgoing.find(REMOTE)
    packets = [packet(b"body", source_queue_manager=OTHER_GUID) for _ in range(3)]
    run = UserMessageRun(UserMessage(packets[0]))
    run.replace(packets)
    state = harness.qm.state
    room = sum(map(len, packets[:fitting])) - less
    state.settings.max_forwarded_bytes_per_address = room
    assert store(state, run, queue, ADDRESS) == queue.count == count
