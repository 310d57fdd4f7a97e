"""The turn of a queue manager, without input and output.

`Engine` has the turn: time, events, transports, batches to write, timers, and says how to drive it.
Its `Gate` holds what may not be said before a batch is on disk. The asyncio host in `service/`, the
test harnesses, the simulation and the benchmarks drive this one engine.
"""
