"""Checks of messages that take time: signatures, decryption, certificates of the directory."""
