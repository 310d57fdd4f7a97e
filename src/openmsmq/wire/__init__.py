"""Bytes and values of every MSMQ format: packets, names, codes, bodies."""
