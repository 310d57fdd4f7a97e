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
    "outgoing_messages": "how many messages wait in them",
    "awaiting_final_ack": "how many were delivered and are not known to be received yet",
    "dead_letters": "how many messages are in the two dead-letter queues",
    "memory_bytes": "of packets that are in memory",
    "disk_bytes": "that the store takes",
    "stored_messages": "count of messages in the store",
    "flushes": "of the store to the disk since the start",
    "throttled": "whether it refuses messages, because the disk is full",
    "transactions": "count of open transactions",
    "staged_bytes": "of batches that are not published yet",
    "in_doubt_transactions": "count of prepared transactions that nobody has decided",
    "sessions": "count of sessions with other queue managers, by protocol",
    "waiting_bytes": "that came over these sessions and are not on disk yet",
    "clients": "count of clients that are connected",
    "client_counters": "clients since the start: `connected`, `refused`, `faulty`, `crashed`",
    "unread_bytes": "of replies that clients have not read",
    "faults": "parts that do not do their work, and why",
    "deleted_messages": "count since the start by reason",
    "refused_requests": "count since the start by result code",
    "dropped_messages": "count of messages of other queue managers by reason",
    "counters": "what was counted since the start, as Prometheus names it; only what is not 0",
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
    "arrived_messages": "count of messages that appeared in it since the start",
    "arrived_bytes": "of these",
    "deleted": "count of messages that left it since the start, by message class",
    "permissions": "`principal`, `sid`, `allow` and `rights` of each entry, or None when you may "
    "not read them; not in `queues()`",
}

OUTGOING: Final = {
    "destination": "format name of the queue on the other machine",
    "transport": "what carries its messages, such as `binary`",
    "state": "`ACTIVE`, `PAUSED`, ...",
    "next_hop": "addresses that it connects to",
    "messages": "count that waits",
    "bytes": "of these",
    "oldest_message_age_seconds": "of the message that waits longest, or None",
    "unacknowledged": "count that was sent and not acknowledged yet",
    "last_error": "why the last try failed",
    "retry_in_seconds": "until the next try, or None",
    "reason": "what it waits for",
    "awaiting_final_ack": "count that has arrived and whose fate is not known yet",
    "history": "`status`, `time` (ISO 8601), `error` (a name, or None) and `addresses` of changes",
}

SESSION: Final = {
    "id": "a number, unique for its protocol",
    "protocol": "such as `binary`",
    "direction": "`incoming` if the other side connected, else `outgoing`",
    "peer": "GUID of the other queue manager; empty before it is known",
    "address": "of the other side",
    "state": "such as `OPEN`",
    "queues": "count of outgoing queues that send over it",
    "unacknowledged": "count of messages that were sent and are not acknowledged",
    "waiting_bytes": "that came and are not on disk yet",
}

CLIENT: Final = {
    "id": "a number, unique for its protocol",
    "protocol": "`local`",
    "principal": "who it is, in words; empty before it has said so",
    "sid": "the same as a SID",
    "address": "where it connected from; empty on this machine",
    "queues": "count of open queues",
    "cursors": "count of cursors",
    "waiting_reads": "count of reads that wait for a message",
    "transactions": "ids of those that it has begun",
    "unread_bytes": "of replies that it has not read",
}

TRANSACTION: Final = {
    "id": "its GUID",
    "state": "`active`, or `prepared` while a coordinator decides",
    "age_seconds": "since it began; None when that was before the last start",
    "sent": "count of messages that it sends",
    "received": "count of messages that it receives",
    "moved": "count of messages that it moves",
}

TABLES: Final = (
    ("`QueueManager.status()`", STATUS),
    ("`Queue.info()`, `QueueManager.queue_info()`, each of `QueueManager.queues()`", QUEUE),
    ("Each of `QueueManager.outgoing()`", OUTGOING),
    ("Each of `QueueManager.sessions()`", SESSION),
    ("Each of `QueueManager.clients()`", CLIENT),
    ("Each of `QueueManager.transactions()`", TRANSACTION),
)
"""What returns a dict, and its keys."""
