"""Management: what people and programs ask about a queue manager, as typed records.

`QueueManager.management` has the functions. Each takes the caller and checks it, so that every
protocol (local now; console and metrics through it) gives the same answers to the same people:

| what | who may see it |
|---|---|
| status, totals, counters | `get-properties` of the queue manager (everyone, by default) |
| a queue; in lists the others are left out | `get-properties` of the queue |
| permissions of a queue or of the queue manager | `get-permissions` of it |
| outgoing queues, sessions with other queue managers, transactions | `peek-deadletter` |
| clients | the caller's own; those of others with `peek-deadletter` |

Its `identities` has the certificates of users and the keys of queue managers. `records` says what
the answers look like, `counters` what is counted and under which name.
"""
