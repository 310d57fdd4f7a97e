"""Asyncio shells: listeners, connectors, timers."""
