"""The benchmark of the console runs; its figures mean nothing here."""

from bench import watching


def test_it_measures_with_and_without_a_console() -> None:
    results = watching.run(queues=3, messages=200, many=20, depths=(300,), rounds=1)
    names = [result.name for result in results]
    assert "express messages with a console" in names
    assert "a page of 200 at the middle of 300 messages" in names
    assert all(result.per_second > 0 for result in results)
