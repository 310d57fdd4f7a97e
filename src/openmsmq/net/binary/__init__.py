"""Sockets of the binary protocol."""
