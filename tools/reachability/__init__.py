"""Which functions of src a running queue manager, client or tool can reach.

The entry points are the console script, the Python API, Spark's data source, the pytest plugin and
the names that documents import. From there names are followed as Python resolves them; for
`expression.name` the annotations say which classes are meant. Where they do not, every method of
that name counts, so an unreached function is one that nothing outside the tests can call.

`index` reads the sources, `values` says what an expression may be, `references` what a definition
uses, `walk` follows that from the entry points, `spec_tests` finds the tests that use the rest, and
`known` reads the list of what is known to be unreached.
"""
