"""Words that the blocking and the asynchronous client share."""

from typing import Any, Literal, TypedDict

# The last two are for outgoing queues.
Access = Literal["receive", "peek", "send", "move", "receive_admin", "peek_admin"]
Share = Literal["deny_none", "deny_receive"]
Relation = Literal["current", "next", "previous", "first", "last"]
Info = dict[str, Any]


class QueueProperties(TypedDict, total=False):
    """What a queue can be created with or changed to.

    Attributes:
        transactional: takes transactional messages only; cannot be changed.
        label: a text that describes it.
        journal: keep a copy of every message that is received.
        quota, journal_quota: kilobytes that it and its journal may hold.
        authenticate: take signed messages only.
        privacy: "none", "optional" or "body" (encrypted bodies only).
        base_priority: of a public queue, for routing.
        multicast: `address:port` of the multicast group that it listens to; empty for none.
        type: GUID of the kind of service that it belongs to.
        receive_retry_count: how often a message that was given back is read again in a cycle.
        retry_cycle_delay: seconds that it then rests in the subqueue `retry`.
        max_retry_cycles: how often it comes back from there.
        receive_error_handling: what follows: "none" (the program decides), "move", "reject",
            "drop" or "hold".
    """

    transactional: bool
    label: str
    journal: bool
    quota: int
    journal_quota: int
    authenticate: bool
    privacy: Literal["none", "optional", "body"]
    base_priority: int
    multicast: str
    type: str
    receive_retry_count: int
    retry_cycle_delay: int
    max_retry_cycles: int
    receive_error_handling: Literal["none", "move", "reject", "drop", "hold"]
