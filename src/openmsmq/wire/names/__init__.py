"""Names of queues: path names, format names, and addresses in packets."""
