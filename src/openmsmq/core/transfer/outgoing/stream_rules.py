"""What each protocol says about transactional messages that were sent."""

from __future__ import annotations

from typing import Final, NamedTuple

from openmsmq.core.model.message import Traits


class StreamRules(NamedTuple):
    """Which messages wait for a FinalAck, and what a receiver accepts.

    Args:
        final_traits: messages with one of these wait for a FinalAck.
        final_on_request: so do those that say so in their TransactionHeader.
        first_opens: a receiver accepts no other message before the first of a sequence.
        order_suffices: an acknowledgment of the order proves that a message has arrived.
    """

    final_traits: int
    final_on_request: bool
    first_opens: bool
    order_suffices: bool


# [MS-MQQB] 3.1.7.2.2.
BINARY_RULES: Final = StreamRules(
    int(Traits.NEGATIVE_JOURNALING | Traits.POSITIVE_JOURNALING),
    final_on_request=True,
    first_opens=False,
    order_suffices=False,
)
# [MC-MQSRM] 3.1.7.2.3, 3.1.5.1.6.3.
SRMP_RULES: Final = StreamRules(
    int(Traits.NEGATIVE_JOURNALING),
    final_on_request=False,
    first_opens=True,
    order_suffices=True,
)
