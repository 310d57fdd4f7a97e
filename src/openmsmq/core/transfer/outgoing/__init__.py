"""The sending side: outgoing queues, their states, streams, sequences and redirections."""
