"""The benchmark of stubs measures equal work."""

import pytest

from bench import ndr


def test_each_side_reads_what_the_other_wrote() -> None:
    ours, theirs = ndr.check()
    assert ndr.decode_ours(*ours) == ndr.decode_ours(*theirs) == (ndr.REQUEST, ndr.RESPONSE)


def test_the_figure_is_a_ratio_to_the_peer_of_the_same_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ndr, "ROUNDS", 1)
    theirs, ours = ndr.run()
    assert theirs.ratio is None
    assert ours.ratio is not None
    assert ours.ratio == pytest.approx(theirs.per_second / ours.per_second)
    assert ours.limit == pytest.approx(0.1)
