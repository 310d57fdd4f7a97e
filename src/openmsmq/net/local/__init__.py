"""Sockets of the local protocol."""
