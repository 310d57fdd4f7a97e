"""Certificates of senders: reading them, and whose are trusted."""
