"""The audit: what became of each sent message."""
