"""Whether the tests notice when the code is wrong: small changes of it, one at a time.

A mutant is one change of one expression or statement in the body of a function of wire, core,
protocol, store or security. `python -m tools.mutants` draws some of them by a seed, runs the tests
that reach the changed line, and lists those that no test noticed.

`sites` finds where code can be changed and how, `mutant` names a change, `recording` keeps which
test reaches which line, `trial` runs the tests over one mutant, `ledger` keeps the results and the
list of equivalent mutants. The sources are never changed: `site/sitecustomize.py` puts the changed
module in the place of the real one, in the process of the trial and in those it starts.
"""
