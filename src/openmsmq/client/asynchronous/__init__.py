"""The client for programs on an event loop: the shared logic under asyncio."""
