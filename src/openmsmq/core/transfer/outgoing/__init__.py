"""The one way out: outgoing queues, their states, streams, sequences and redirections."""
