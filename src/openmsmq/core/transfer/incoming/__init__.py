"""The receiving side: from the inlet of a connection to the queue of a message."""
