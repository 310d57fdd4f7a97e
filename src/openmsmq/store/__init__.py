"""Durable storage: atomic batches, group commit, recovery."""
