"""Definitions: queues, permissions, outgoing queues and redirections as a TOML or JSON file.

`model` has the values, `reading.read_definitions` makes them of a text, `writing` a text of them.
"""
