"""The queue manager process: configuration, start, stop, recovery."""
