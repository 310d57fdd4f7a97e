"""The benchmark of deep queues runs a real queue manager through its restarts."""

from bench import depth


def test_every_figure_is_there() -> None:
    results = depth.run((40_000, 60_000), rounds=1)
    names = [result.name.partition(":")[0] for result in results]
    assert names == [
        "fill, recoverable 1 KiB",
        "restart after a stop",
        "memory after it",
        "restart after a kill",
        "memory after it",
        "send, depth 40,000",
        "send, depth 60,000",
        "receive, depth 40,000",
        "receive, depth 60,000",
    ]
    assert all(result.per_second > 0 for result in results)
    assert [result.ratio for result in results[5::2]] == [1.0, 1.0]
