"""The rules of each protocol for transactional messages that were sent."""

from __future__ import annotations

from typing import Final, NamedTuple

from openmsmq.core.model.message import Traits


class StreamRules(NamedTuple):
    """The messages that await a FinalAck, and the messages that a receiver accepts.

    Args:
        final_traits: messages with one of these await a FinalAck.
        final_on_request: so do those that ask for it in their TransactionHeader.
        first_opens: a receiver accepts no other message before the first of a sequence.
        order_suffices: an acknowledgment of the order proves that a message has arrived.
        order_lengthens: each acknowledgment of the order that leaves unacknowledged messages
            lengthens the time until they are sent again, not only each time-out.
        final_expires: a message awaits a FinalAck until its time to be received is over.
    """

    final_traits: int
    final_on_request: bool
    first_opens: bool
    order_suffices: bool
    order_lengthens: bool
    final_expires: bool


# [MS-MQQB] 3.1.7.2.2, 3.1.5.6.
BINARY_RULES: Final = StreamRules(
    int(Traits.NEGATIVE_JOURNALING | Traits.POSITIVE_JOURNALING),
    final_on_request=True,
    first_opens=False,
    order_suffices=False,
    order_lengthens=True,
    final_expires=False,
)
# [MC-MQSRM] 3.1.7.2.3, 3.1.5.1.6.3, figure 6. Choice, where 3.1.5.1.8.2 and notes 17 and 18 differ:
# only time-outs lengthen it, an acknowledgment resets it. In a steady flow receipts come often.
SRMP_RULES: Final = StreamRules(
    int(Traits.NEGATIVE_JOURNALING),
    final_on_request=False,
    first_opens=True,
    order_suffices=True,
    order_lengthens=False,
    final_expires=True,
)
