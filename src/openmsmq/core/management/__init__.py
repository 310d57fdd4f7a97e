"""Management: status, lists and permissions of a queue manager, as typed records.

`QueueManager.management` has the functions. Each checks its caller, so that every protocol (local
now; console and metrics through it) gives the same answers to the same users:

| what | who may see it |
|---|---|
| status, totals, counters | `get-properties` of the queue manager (everyone, by default) |
| a queue; lists leave out other queues | `get-properties` of the queue |
| permissions of a queue or of the queue manager | `get-permissions` of it |
| outgoing queues, sessions with other queue managers, transactions | `peek-deadletter` |
| clients | the caller's own; those of others with `peek-deadletter` |

Its `identities` has the certificates of users and the keys of queue managers. `records` declares
the records, `counters` the names and meaning of all counters.
"""
