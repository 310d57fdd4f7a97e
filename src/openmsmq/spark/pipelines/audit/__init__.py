"""The audit: the fate of each sent message."""
