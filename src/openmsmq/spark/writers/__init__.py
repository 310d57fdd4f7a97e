"""The write side: rows to packets, staged and published."""
