"""The keys of what status(), queue_info() and outgoing() of the Python API return, for its page."""

from typing import Final

STATUS: Final = {
    "name": "computer name of the queue manager",
    "guid": "its GUID, as in the ids of messages",
    "version": "of its program",
    "state": "`Ready` when it takes messages",
    "pid": "its process",
    "uptime_seconds": "since its start",
    "endpoints": "where it listens, by the name of the protocol",
    "data": "its data directory",
    "queues": "count of queues that users made",
    "messages": "count in all queues, locked ones included",
    "bytes": "of these messages",
    "outgoing_queues": "count of outgoing queues",
    "memory_bytes": "of packets that are in memory",
    "disk_bytes": "that the store takes",
    "stored_messages": "count of messages in the store",
    "flushes": "of the store to the disk since the start",
    "throttled": "whether it refuses messages, because the disk is full",
    "transactions": "count of open transactions",
    "staged_bytes": "of batches that are not published yet",
    "in_doubt_transactions": "count of prepared transactions that nobody has decided",
    "clients": "count of clients that are connected",
    "client_counters": "clients since the start: `connected`, `refused`, `faulty`, `crashed`",
    "unread_bytes": "of replies that clients have not read",
    "deleted_messages": "count since the start by reason",
    "refused_requests": "count since the start by result code",
    "dropped_messages": "count of messages of other queue managers by reason",
}

QUEUE: Final = {
    "path": "path name",
    "format_name": "format name",
    "kind": "`queue`, `subqueue`, `journal`, `machine_journal`, `deadletter`, `xact_deadletter`",
    "scope": "`private`, `public` or `system`",
    "guid": "GUID of the queue",
    "label": "a text that describes it",
    "transactional": "whether it takes transactional messages only",
    "journal": "whether it keeps a copy of what is received",
    "quota": "kilobytes that it may hold; 4294967295 is no limit",
    "journal_quota": "the same of its journal",
    "authenticate": "whether it takes signed messages only",
    "privacy": "`none`, `optional` or `body`",
    "base_priority": "of a public queue, for routing",
    "multicast": "multicast group that it listens to, or None",
    "type": "GUID of the kind of service that it belongs to",
    "created_time": "seconds since 1970",
    "modified_time": "seconds since 1970",
    "messages": "count, locked ones included",
    "bytes": "of these messages",
    "locked_messages": "count of those that a transaction or a reader has locked",
    "journal_messages": "count in its journal",
    "journal_bytes": "of these",
    "oldest_message_age_seconds": "of the message that waits longest, or None",
    "subqueues": "their names",
    "readers": "how often it is open for reading",
    "waiting_reads": "count of reads that wait for a message",
    "deleted": "count of messages that left it since the start, by message class",
    "permissions": "`principal`, `sid`, `allow` and `rights` of each entry; not in `queues()`",
}

OUTGOING: Final = {
    "destination": "format name of the queue on the other machine",
    "state": "`ACTIVE`, `PAUSED`, ...",
    "next_hop": "addresses that it connects to",
    "messages": "count that waits",
    "bytes": "of these",
    "unacknowledged": "count that was sent and not acknowledged yet",
    "last_error": "why the last try failed",
    "retry_in_seconds": "until the next try, or None",
    "reason": "what it waits for",
    "awaiting_final_ack": "count that has arrived and whose fate is not known yet",
    "history": "`status`, `time`, `error` and `addresses` of the last changes",
}

TABLES: Final = (
    ("`QueueManager.status()`", STATUS),
    ("`Queue.info()`, `QueueManager.queue_info()`, each of `QueueManager.queues()`", QUEUE),
    ("Each of `QueueManager.outgoing()`", OUTGOING),
)
"""What returns a dict, and its keys."""
