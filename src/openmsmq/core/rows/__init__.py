"""Conversion between objects in memory and rows of the store."""
