"""The turn of a queue manager, without input and output.

`engine.py` has the turn: time, events, transports, batches to write, timers. `gate.py` holds what
may not be said before a batch is on disk. `hosted_session.py` is a client of the local protocol on
an engine. The asyncio host in `service/`, the test harnesses, the
simulation and the benchmarks drive this one engine; `Engine` says how.
"""
