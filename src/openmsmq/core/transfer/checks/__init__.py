"""Slow checks of messages: signatures, decryption, certificates of the directory."""
