"""Running totals over all queues, updated where a count changes and never recomputed."""


class Totals:
    """Sums over all queues of a queue manager."""

    __slots__ = (
        "aborted",
        "awaiting_final_ack",
        "bytes",
        "committed",
        "delayed_bytes",
        "delayed_messages",
        "in_doubt",
        "journal_bytes",
        "messages",
        "outgoing_messages",
        "queues",
    )

    def __init__(self) -> None:
        # Queues that users made.
        self.queues = 0
        # Messages in all queues, locked ones included, and the part of them in outgoing queues.
        self.messages = 0
        self.outgoing_messages = 0
        # The part of the outgoing ones that was delivered, and whose fate is unknown yet.
        self.awaiting_final_ack = 0
        # Bytes of all messages, and of those in journals.
        self.bytes = 0
        self.journal_bytes = 0
        # Delayed messages, not included above, and their bytes.
        self.delayed_messages = 0
        self.delayed_bytes = 0
        # Transactions that are prepared and wait for the decision of a coordinator, and those that
        # ended since the start.
        self.in_doubt = 0
        self.committed = 0
        self.aborted = 0
