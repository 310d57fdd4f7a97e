"""The local protocol: how programs on the same machine use a queue manager."""
