"""Transactions, and the part of an outside coordinator in them."""
