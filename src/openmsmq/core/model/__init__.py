"""What a queue manager has: messages, queues, open queues, cursors, outgoing queues."""
