"""The process of a queue manager: its configuration, its parts, start and stop; embedded."""
