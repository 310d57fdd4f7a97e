"""The benchmark of transactions across machines runs, and its figures are of one run."""

from bench.remote_transactions import LIMIT, run


def test_both_flows_are_measured() -> None:
    plain, transactional = run(count=200, rounds=1)
    assert plain.per_second > 0
    assert transactional.per_second > 0
    assert transactional.ratio == plain.per_second / transactional.per_second
    assert transactional.limit == LIMIT
