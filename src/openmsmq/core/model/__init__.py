"""The model of a queue manager: messages, queues, open queues, cursors, outgoing queues."""
