"""Transactions, and their coordination across machines."""
