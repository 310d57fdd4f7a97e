"""The turn of a queue manager, without input and output.

`Engine` has the turn: time, events, transports, batches to write, timers; its docstring says how to
use it. Its `Gate` holds replies back until their batch is on disk. The asyncio host in `service/`,
the test harnesses, the simulation and the benchmarks drive this one engine.
"""
