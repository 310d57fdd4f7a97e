"""The benchmark of the queue manager compares depths in one run."""

from bench import core


def test_every_depth_is_compared_with_the_first() -> None:
    results = core.run((1000, 2000), 3)
    assert [result.name for result in results[:-1]] == [
        f"{what}, depth {depth}" for what in core.PARTS for depth in ("1,000", "2,000")
    ]
    assert [result.ratio for result in results[:-1:2]] == [1.0, 1.0, 1.0]
    assert all(result.per_second > 0 for result in results[:-1])
    assert results[-1].name.startswith("memory: ")


def test_a_round_leaves_the_queue_as_deep_as_it_was() -> None:
    packets = core.make_packets()
    line = core.Line(core.make_engine(packets[0]), 1000, packets)
    assert {len(packet) for packet in line.packets} == {core.PACKET_SIZE}
    line.fill()
    line.round()
    assert line.queue.count == 1000
