"""The benchmark of the queue manager compares depths in one run."""

from bench import core


def test_every_depth_is_compared_with_the_first() -> None:
    results = core.run((1000, 2000), 3)
    assert [result.name for result in results[:-1]] == [
        f"{what}, depth {depth}"
        for depth in ("1,000", "2,000")
        for what in ("enqueue", "receive at the end", "receive at the front")
    ]
    assert [result.ratio for result in results[:3]] == [1.0, 1.0, 1.0]
    assert all(result.per_second > 0 for result in results[:-1])
    assert results[-1].name.startswith("memory: ")


def test_what_is_sent_is_a_kibibyte() -> None:
    bench = core.Bench()
    assert {len(packet) for packet in bench.packets} == {core.PACKET_SIZE}
    bench.fill(1000)
    bench.round()
    assert bench.qm.find_queue(core.PATH).count == 1000
