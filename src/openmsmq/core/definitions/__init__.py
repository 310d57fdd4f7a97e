"""Definitions: what there is as a file, and what a file changes.

`exporting.export` says how things are. `planning.plan` compares a file with that, makes every check
and returns a `Plan`; `Plan.carry_out` changes things in one step, so that all of it is in one
batch of the store, and two files at a time do not mix.
"""
