"""Queues: creating, opening, purging, their names, rights and quotas."""
