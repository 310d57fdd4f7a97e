"""Packets to columns, vectorised, and the row decoder that checks it."""
