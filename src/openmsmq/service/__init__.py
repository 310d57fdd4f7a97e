"""The asyncio host of the engine, the threads beside it, logs; accounts, tokens and keys."""
