"""Packets of a binary session: framing, handshake, acknowledgments, pings."""
