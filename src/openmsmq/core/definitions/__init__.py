"""Definitions: the state of a queue manager as a file, and the changes that a file makes.

`exporting.export` returns the current state. `planning.plan` compares a file with it, makes every
check and returns a `Plan`; `Plan.carry_out` makes all changes in one step, so that they are in one
batch of the store and two files applied at a time do not mix.
"""
