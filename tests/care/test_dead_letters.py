"""Dead letters in groups."""

import time

import openmsmq
from openmsmq.care.dead_letters import RECENT_SECONDS, dead_letters, group_dead_letters

QUEUE = r".\private$\orders"


def test_groups_count_what_died_in_the_last_hour(qm: openmsmq.QueueManager) -> None:
    queue = qm.create_queue(QUEUE)
    for label in ("a", "b", "a"):
        late = openmsmq.Message(b"x", label=label, dead_letter=True, time_to_be_received=0)
        queue.send(late)
    now = time.time()
    groups = group_dead_letters(dead_letters(qm), now, ("label",))
    assert [(*group.key, group.messages, group.recent) for group in groups] == [
        ("a", 2, 2),
        ("b", 1, 1),
    ]
    later = group_dead_letters(dead_letters(qm), now + RECENT_SECONDS + 1, ("label",))
    assert [(group.messages, group.recent) for group in later] == [(2, 0), (1, 0)]
