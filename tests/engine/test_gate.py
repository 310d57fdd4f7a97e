"""The gate: effects leave after their batch, in order, never before."""

import pytest

from openmsmq.engine.engine import Gate


def test_an_effect_waits_for_its_batch() -> None:
    gate = Gate()
    released: list[str] = []
    gate.when_durable(2, released.append, "two")
    gate.open(1)
    assert released == []
    assert gate.holds
    gate.open(2)
    assert released == ["two"]
    assert not gate.holds


def test_an_effect_of_a_batch_on_disk_happens_at_once() -> None:
    gate = Gate()
    released: list[str] = []
    gate.when_durable(0, released.append, "nothing to wait for")
    gate.open(3)
    gate.when_durable(3, released.append, "three")
    assert released == ["nothing to wait for", "three"]


def test_effects_are_released_in_the_order_of_their_batches() -> None:
    gate = Gate()
    released: list[int] = []
    for depends, effect in ((3, 31), (1, 11), (2, 21), (1, 12), (3, 32)):
        gate.when_durable(depends, released.append, effect)
    gate.open(2)
    assert released == [11, 12, 21]
    gate.open(3)
    assert released == [11, 12, 21, 31, 32]


def test_an_effect_may_hold_another_one() -> None:
    gate = Gate()
    released: list[str] = []

    def chain(text: str) -> None:
        released.append(text)
        gate.when_durable(1, released.append, "same batch")
        gate.when_durable(2, released.append, "next batch")

    gate.when_durable(1, chain, "first")
    gate.open(1)
    assert released == ["first", "same batch"]
    gate.open(2)
    assert released[-1] == "next batch"


def test_batches_become_durable_in_order() -> None:
    gate = Gate()
    gate.open(2)
    with pytest.raises(AssertionError, match="in order"):
        gate.open(2)
