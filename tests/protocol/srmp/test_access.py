"""Who may send over HTTP: the sender counts as Everyone."""

import pytest
from tests.core.harness import USER
from tests.protocol.srmp.naive import envelope, post
from tests.protocol.srmp.web import ORDERS, Node, Web, url

from openmsmq.security.access_check import QUEUE_MAPPING
from openmsmq.security.default_descriptor import allow
from openmsmq.wire.codes.access_rights import QueueRight
from openmsmq.wire.security.security_descriptor import Acl, SecurityDescriptor
from openmsmq.wire.security.sid import ANONYMOUS, EVERYONE, SID


def machine(*writers: SID) -> tuple[Web, Node]:
    """A queue to which its owner and these may send."""
    web = Web()
    beta = web.node("beta")
    queue = beta.create()
    entries = [allow(USER.sid, QUEUE_MAPPING.all_rights)]
    entries += [allow(sid, int(QueueRight.WRITE_MESSAGE)) for sid in writers]
    descriptor = SecurityDescriptor(owner=USER.sid, dacl=Acl(tuple(entries)))
    beta.qm.set_queue(queue, caller=USER, security=descriptor.serialize())
    web.run()
    return web, beta


@pytest.mark.spec("MQSRM-3.1.5.1.12-01")
def test_a_queue_to_which_everyone_may_write_takes_a_message() -> None:
    web, beta = machine(EVERYONE)
    assert web.post(beta, post(envelope(url(beta), utc=web.utc))) == [200]
    assert beta.bodies(ORDERS) == [b"body"]


@pytest.mark.parametrize("writers", [(), (ANONYMOUS,)])
@pytest.mark.spec("MQSRM-3.1.5.1.12-03")
def test_without_the_right_of_everyone_a_message_is_answered_400(writers: tuple[SID, ...]) -> None:
    web, beta = machine(*writers)
    assert web.post(beta, post(envelope(url(beta), utc=web.utc))) == [400]
    assert beta.bodies(ORDERS) == []
    rejected = beta.qm.counters.rejected_messages.values
    assert rejected == {("http", "NACK_ACCESS_DENIED"): 1}
